"""The words of a crushrc: each call changes one tree, which is afterwards merged as if it had been a file.

What a script takes away it may have inherited, so removing writes a `reset` too. Wrong words are told to the script,
and end the loading.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from turnkeeper.settings import marks
from turnkeeper.settings.checking import hook_event
from turnkeeper.settings.merging import RESET, without
from turnkeeper.settings.reading import Tree, as_list, as_tree

Convert = Callable[[str], Any]


class WrongWord(Exception):
    """The word was used in a way it is not meant to be."""


def truth(text: str) -> bool:
    match text.lower():
        case "true" | "1" | "yes":
            return True
        case "false" | "0" | "no":
            return False
        case _:
            raise WrongWord("true or false was expected")


def whole(text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise WrongWord("a whole number was expected") from error


def number(text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise WrongWord("a number was expected") from error


def share(text: str) -> float:
    if not 0 <= (found := number(text)) <= 1:
        raise WrongWord("a number from 0 to 1 was expected")
    return found


def table(text: str) -> Tree:
    try:
        found = as_tree(json.loads(text))
    except ValueError:
        found = None
    if found is None:
        raise WrongWord("a JSON object was expected")
    return found


def effort(text: str) -> str:
    if text not in ("low", "medium", "high"):
        raise WrongWord("low, medium or high was expected")
    return text


class Flag:
    """How one flag is read: `takes` values follow it; `many` may be said again."""

    def __init__(self, key: str, convert: Convert = str, *, takes: int = 1, many: bool = False) -> None:
        self.key = key
        self.convert = convert
        self.takes = takes
        self.many = many

    def apply(self, tree: Tree, values: Sequence[str]) -> None:
        match self.takes:
            case 0:
                tree[self.key] = True
            case 2:
                tree.setdefault(self.key, {})[values[0]] = values[1]
            case _ if self.many:
                tree.setdefault(self.key, []).append(self.convert(values[0]))
            case _:
                tree[self.key] = self.convert(values[0])


PROVIDER = {
    "--name": Flag("name"),
    "--type": Flag("type"),
    "--api-key": Flag("api_key"),
    "--base-url": Flag("base_url"),
    "--disable": Flag("disable", truth),
    "--flat-rate": Flag("flat_rate", truth),
    "--discover-models": Flag("discover_models", truth),
    "--system-prompt-prefix": Flag("system_prompt_prefix"),
    "--extra-header": Flag("extra_headers", takes=2),
    "--extra-body": Flag("extra_body", table),
    "--provider-options": Flag("provider_options", table),
}
MODEL = {
    "--name": Flag("name"),
    "--context-window": Flag("context_window", whole),
    "--default-max-tokens": Flag("default_max_tokens", whole),
    "--can-reason": Flag("can_reason", truth),
    "--supports-images": Flag("supports_attachments", truth),
    "--price-input": Flag("cost_per_1m_in", number),
    "--price-output": Flag("cost_per_1m_out", number),
    "--price-cache-create": Flag("cost_per_1m_in_cached", number),
    "--price-cache-hit": Flag("cost_per_1m_out_cached", number),
    "--reasoning-effort": Flag("default_reasoning_effort", effort),
}
SELECTED = {
    "--think": Flag("think", takes=0),
    "--reasoning-effort": Flag("reasoning_effort", effort),
    "--max-tokens": Flag("max_tokens", whole),
    "--temperature": Flag("temperature", number),
    "--top-p": Flag("top_p", share),
    "--top-k": Flag("top_k", whole),
    "--frequency-penalty": Flag("frequency_penalty", number),
    "--presence-penalty": Flag("presence_penalty", number),
    "--provider-options": Flag("provider_options", table),
}
MCP = {
    "--type": Flag("type"),
    "--command": Flag("command"),
    "--args": Flag("args", many=True),
    "--env": Flag("env", takes=2),
    "--url": Flag("url"),
    "--header": Flag("headers", takes=2),
    "--timeout": Flag("timeout", whole),
    "--disabled": Flag("disabled", truth),
    "--disabled-tools": Flag("disabled_tools", many=True),
    "--enabled-tools": Flag("enabled_tools", many=True),
    "--oauth": Flag("oauth", truth),
    "--oauth-client-id": Flag("oauth_client_id"),
    "--oauth-client-secret": Flag("oauth_client_secret"),
    "--oauth-callback-port": Flag("oauth_callback_port", whole),
}
LSP = {
    "--command": Flag("command"),
    "--args": Flag("args", many=True),
    "--env": Flag("env", takes=2),
    "--filetypes": Flag("filetypes", many=True),
    "--root-markers": Flag("root_markers", many=True),
    "--timeout": Flag("timeout", whole),
    "--disabled": Flag("disabled", truth),
    "--init-options": Flag("init_options", table),
    "--options": Flag("options", table),
}
HOOK = {
    "--command": Flag("command"),
    "--name": Flag("name"),
    "--matcher": Flag("matcher"),
    "--timeout": Flag("timeout", whole),
    "--blocking": Flag("blocking", truth),
}

BOOLEANS = {
    "debug": ("debug", False),
    "debug-lsp": ("debug_lsp", False),
    "auto-lsp": ("auto_lsp", False),
    "progress": ("progress", False),
    "metrics": ("disable_metrics", True),
    "auto-summarize": ("disable_auto_summarize", True),
    "provider-auto-update": ("disable_provider_auto_update", True),
    "default-providers": ("disable_default_providers", True),
}
"""Options that are yes or no: their key, and whether the key says the opposite."""
STRINGS = {"data-directory": "data_directory", "initialize-as": "initialize_as", "notifications": "notifications"}
LISTS = {
    "context-path": "context_paths",
    "global-context-path": "global_context_paths",
    "skill-path": "skills_paths",
    "disable-skill": "disabled_skills",
}
UI: dict[str, tuple[tuple[str, ...], Convert]] = {
    "compact": (("compact_mode",), truth),
    "diff": (("diff_mode",), str),
    "transparent": (("transparent",), truth),
    "scrollbar": (("scrollbar",), str),
    "completions-max-depth": (("completions", "max_depth"), whole),
    "completions-max-items": (("completions", "max_items"), whole),
}


class Words:
    """What a script has said so far."""

    def __init__(self, below: Tree | None = None) -> None:
        self.tree: Tree = {}
        self._below = below or {}

    def say(self, word: str, arguments: Sequence[str]) -> str:
        """One call; returns what it prints. Raises `WrongWord`."""
        match word, list(arguments):
            case "permissions", ["allow", *tools] if tools:
                self._extend(("permissions", "allowed_tools"), tools)
            case "permissions", ["deny", *tools] if tools:
                self._extend(("options", "disabled_tools"), tools)
            case "option", arguments:
                self._option(arguments)
            case "model", ["large" | "small" as slot, *rest]:
                return self._select(slot, rest)
            case "model", ["add", reference, *flags]:
                self._add_model(reference, _read(MODEL, flags))
            case "model", ["remove" | "rm", reference]:
                self._remove_model(reference)
            case "hook", ["add", event, *flags]:
                self._add_hook(hook_event(event), _read(HOOK, flags))
            case "hook", ["remove" | "rm", event, *flags]:
                self._remove_hook(hook_event(event), _read({"--name": HOOK["--name"]}, flags))
            case "provider" | "mcp" | "lsp", ["add", name, *flags] if not name.startswith("-"):
                self._add(word, name, flags)
            case "provider" | "mcp" | "lsp", ["remove" | "rm", name]:
                self._forget("providers" if word == "provider" else word, name)
            case _:
                raise WrongWord("not understood")
        return ""

    def _add(self, word: str, name: str, flags: Sequence[str]) -> None:
        match word:
            case "provider":
                entry = _read(PROVIDER, flags)
                kept = (self._at("providers", name) or {}).get("models")
                self._put(("providers", name), {**entry, "models": kept} if kept else entry)
            case "mcp":
                entry = _read(MCP, flags)
                self._put(("mcp", name), {"type": "http" if "url" in entry else "stdio", **entry})
            case _:
                entry = _read(LSP, flags)
                if not entry.get("command"):
                    raise WrongWord("--command is missing")
                self._put(("lsp", name), entry)

    def _option(self, arguments: Sequence[str]) -> None:
        match arguments:
            case [name] | [name, _] if name in BOOLEANS:
                key, opposite = BOOLEANS[name]
                self._put(("options", key), truth(arguments[1] if arguments[1:] else "true") != opposite)
            case ["attribution-generated-with", *rest] if len(rest) <= 1:
                self._put(("options", "attribution", "generated_with"), truth(rest[0] if rest else "true"))
            case ["attribution-trailer-style", value]:
                self._put(("options", "attribution", "trailer_style"), value)
            case ["reset", name] if name in LISTS:
                self._forget("options", LISTS[name])
            case ["ui", name, value] if name in UI:
                path, convert = UI[name]
                self._put(("options", "tui", *path), convert(value))
            case [name, value] if name in STRINGS:
                self._put(("options", STRINGS[name]), value)
            case [name, *values] if name in LISTS and values:
                self._extend(("options", LISTS[name]), values)
            case _:
                raise WrongWord("there is no such option, or it wants another number of values")

    def _select(self, slot: str, arguments: Sequence[str]) -> str:
        if not arguments:
            chosen = self._at("models", slot) or as_tree((as_tree(self._below.get("models")) or {}).get(slot)) or {}
            return f"{chosen['provider']}/{chosen['model']}" if {"provider", "model"} <= chosen.keys() else ""
        provider, model = _reference(arguments[0])
        self._put(("models", slot), {"provider": provider, "model": model, **_read(SELECTED, arguments[1:])})
        return ""

    def _add_model(self, reference: str, entry: Tree) -> None:
        provider, model = _reference(reference)
        if self._at("providers", provider) is None and provider not in (as_tree(self._below.get("providers")) or {}):
            raise WrongWord(f"there is no provider {provider}; add it first")
        level = entry.get("default_reasoning_effort")
        entry = {"id": model, "name": model, **entry} | ({"reasoning_levels": [level]} if level else {})
        inner = self._table("providers", provider)
        inner["models"] = [*(item for item in as_list(inner.get("models")) if item["id"] != model), entry]

    def _remove_model(self, reference: str) -> None:
        provider, model = _reference(reference)
        inner = self._at("providers", provider)
        found = as_list((inner or {}).get("models"))
        if inner is None or not any(item["id"] == model for item in found):
            raise WrongWord(f"there is no model {reference}")
        inner["models"] = [item for item in found if item["id"] != model]

    def _add_hook(self, event: str, entry: Tree) -> None:
        if not entry.get("command"):
            raise WrongWord("--command is missing")
        hooks = as_list(self._table("hooks").get(event))
        named = entry.get("name")
        self._put(("hooks", event), [*(hook for hook in hooks if not named or hook.get("name") != named), entry])

    def _remove_hook(self, event: str, flags: Tree) -> None:
        if "name" in flags:
            hooks = as_list(self._table("hooks").get(event))
            self._put(("hooks", event), [hook for hook in hooks if hook.get("name") != flags["name"]])
        else:
            self._forget("hooks", event)

    def _put(self, path: tuple[str, ...], value: Any) -> None:
        self._table(*path[:-1])[path[-1]] = value

    def _extend(self, path: tuple[str, ...], values: Sequence[str]) -> None:
        held = self._table(*path[:-1])
        held[path[-1]] = list(dict.fromkeys([*as_list(held.get(path[-1])), *values]))

    def _forget(self, *path: str) -> None:
        self.tree = without(self.tree, path)
        self._extend((RESET,), [marks.dotted(path)])

    def _table(self, *path: str) -> Tree:
        held = self.tree
        for key in path:
            held = held.setdefault(key, {})
        return held

    def _at(self, *path: str) -> Tree | None:
        held: Tree | None = self.tree
        for key in path:
            held = as_tree((held or {}).get(key))
        return held


def _reference(text: str) -> tuple[str, str]:
    provider, _, model = text.partition("/")
    if not provider or not model:
        raise WrongWord("provider/model was expected")
    return provider, model


def _read(flags: Mapping[str, Flag], words: Sequence[str]) -> Tree:
    tree: Tree = {}
    rest = list(words)
    while rest:
        name, _, attached = rest.pop(0).partition("=")
        flag = flags.get(name)
        if flag is None:
            raise WrongWord(f"{name} is not known; known are {' '.join(flags)}")
        if attached:
            rest.insert(0, attached)
        if len(rest) < flag.takes:
            raise WrongWord(f"{name} wants {flag.takes} more")
        values, rest = rest[: flag.takes], rest[flag.takes :]
        try:
            flag.apply(tree, values)
        except WrongWord as problem:
            raise WrongWord(f"{name}: {problem}") from problem
    return tree
