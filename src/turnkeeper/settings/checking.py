"""What a file may say: unknown keys are told with the nearest known one, wrong values refused, by name and line.

The types of `protocol/config.py` and `settings.py` are the one description; the JSON Schema comes from them too.
"""

import re
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any

import msgspec
from msgspec import inspect

from turnkeeper.protocol import config
from turnkeeper.protocol.config import Config
from turnkeeper.settings import marks, settings
from turnkeeper.settings.merging import split_key
from turnkeeper.settings.reading import ConfigProblem, Document, Tree, as_list, as_tree
from turnkeeper.settings.settings import Agent, Database, Log, Notice, PermissionRule, Runs, Server, Shell, Waits

SCHEMA_URL = "https://json-schema.org/draft/2020-12/schema"
HOOK_EVENTS = ("PreToolUse", "PostToolUse", "SessionStart", "UserPromptSubmit", "RunComplete", "Notification")

Path = marks.Path
Finding = tuple[Path, str]


class Shape(Config, frozen=True):
    """All that one file may say: the wire's configuration, our knobs, and what is to be forgotten."""

    waits: Waits = Waits()
    """How long to wait for others."""
    runs: Runs = Runs()
    """What a run may do."""
    server: Server = Server()
    """How the server serves."""
    log: Log = Log()
    """What is written about the work, and for how long it is kept."""
    database: Database = Database()
    """How far back the log of a workspace reaches."""
    agents: dict[str, Agent] = msgspec.field(default_factory=dict[str, Agent])
    """By name the agents there are, beside the usual ones or in their place."""
    rules: tuple[PermissionRule, ...] = ()
    """What is allowed, asked or denied; the last rule that matches decides."""
    shell: Shell = Shell()
    """What commands may do, beside what rules say of them."""
    reset: tuple[str, ...] = ()
    """Keys of which this file forgets what the files below it have said."""


def schema() -> Tree:
    """The JSON Schema of a configuration file, in either format."""
    found = msgspec.json.decode(msgspec.json.encode(msgspec.json.schema(Shape)), type=dict[str, Any])
    for definition in found["$defs"].values():
        if definition.get("type") == "object" and "properties" in definition:
            definition["additionalProperties"] = False
    # On the wire some keys are always there. Whoever writes a file may leave out what they do not want to say.
    for name, definition in found["$defs"].items():
        if name != "PermissionRule":
            definition.pop("required", None)
    _describe(found["$defs"])
    return {"$schema": SCHEMA_URL, "title": "Turnkeeper configuration", **found}


def _describe(definitions: dict[str, Any]) -> None:
    """Say of each setting what is said under it in the sources, so that an editor shows it."""
    from turnkeeper.settings.describing import sentences

    said = sentences(config, settings, sys.modules[__name__])
    for name, definition in definitions.items():
        for key, sentence in said.get(name, {}).items():
            if key in definition.get("properties", {}):
                definition["properties"][key]["description"] = sentence


def check(document: Document) -> tuple[Tree, list[Notice]]:
    """What the document says, in today's words and without what nobody knows; raises `ConfigProblem` for all else.

    All that is wrong with a file is said at once, so that it can be mended at once.
    """
    tree = renamed(document.tree)
    wrong = [*_wrong(tree, _shape(), ()), *_wrong_hooks(document.tree)]
    if wrong:
        first, *others = (_problem(document, finding) for finding in wrong)
        raise ConfigProblem(first.message.partition(": ")[2], source=first.source, also=others)
    unknown = list(_unknown(tree, _shape(), ()))
    notices = [
        Notice(_unknown_message(path, known, "is not known and was ignored"), document.source(path))
        for path, known in unknown
    ]
    return as_tree(_known(tree, _shape())) or {}, notices


def unknown_key(key: str) -> str:
    """Why no file may say this key; empty when it may."""
    tree: Any = None
    for part in reversed(split_key(key)):
        tree = {part: tree}
    strange = _unknown(tree, _shape(), ())
    return next((_unknown_message(path, known, "is not a key") for path, known in strange), "")


def renamed(tree: Tree) -> Tree:
    """The words of earlier versions of the original, and hook events however they are spelled, in today's words."""
    tree = dict(tree)
    if options := as_tree(tree.get("options")):
        tree["options"] = _renamed_options(options)
    if hooks := as_tree(tree.get("hooks")):
        events: Tree = {}
        for name, entries in hooks.items():
            known = hook_event(name)
            events[known] = [*events[known], *as_list(entries)] if known in events else entries
        tree["hooks"] = events
    return tree


def hook_event(name: str) -> str:
    """`pre_tool_use`, `pretooluse` and `pre-tool-use` are `PreToolUse`."""
    plain = re.sub(r"[_\-\s]", "", name).lower()
    return next((event for event in HOOK_EVENTS if event.lower() == plain), name)


def _renamed_options(options: Tree) -> Tree:
    options = dict(options)
    style, disabled = options.pop("notification_style", None), options.pop("disable_notifications", None)
    if disabled is True:
        style = "disabled"
    if style is not None:
        options.setdefault("notifications", style)
    attribution = as_tree(options.get("attribution"))
    if attribution is not None and isinstance(together := attribution.get("co_authored_by"), bool):
        kept = {key: value for key, value in attribution.items() if key != "co_authored_by"}
        options["attribution"] = {"trailer_style": "co-authored-by" if together else "none", **kept}
    return options


def _problem(document: Document, finding: Finding) -> ConfigProblem:
    path, message = finding
    return ConfigProblem(f"{marks.dotted(path)}: {message}", source=document.source(path))


def _unknown_message(path: Path, known: list[str], said: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(str(path[-1]), known, n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    return f"{marks.dotted(path)} {said}{hint}"


def _wrong_hooks(tree: Tree) -> Iterator[Finding]:
    for event, entries in (as_tree(tree.get("hooks")) or {}).items():
        for number, entry in enumerate(as_list(entries)):
            hook = as_tree(entry) or {}
            if not str(hook.get("command") or "").strip():
                yield ("hooks", event, number, "command"), "a hook needs a command"
            try:
                re.compile(str(hook.get("matcher") or ""))
            except re.error as error:
                yield ("hooks", event, number, "matcher"), f"not a regular expression: {error.msg}"


@cache
def _shape() -> inspect.Type:
    return inspect.type_info(Shape)


def _parts(value: Any, kind: inspect.Type) -> Iterator[tuple[str | int, Any, inspect.Type | None]]:
    """The members of a value with the type of each: None for a key that nobody knows."""
    match kind:
        case inspect.StructType(fields=fields) if (tree := as_tree(value)) is not None:
            types = {field.encode_name: field.type for field in fields}
            yield from ((key, item, types.get(key)) for key, item in tree.items())
        case inspect.DictType(value_type=inner) if (tree := as_tree(value)) is not None:
            yield from ((key, item, inner) for key, item in tree.items())
        case inspect.VarTupleType(item_type=inner) if isinstance(value, list):
            yield from ((number, item, inner) for number, item in enumerate(as_list(value)))
        case inspect.UnionType(types=types):
            containers = (inspect.StructType, inspect.DictType, inspect.VarTupleType)
            yield from (part for one in types if isinstance(one, containers) for part in _parts(value, one))
        case _:
            pass


def _wrong(value: Any, kind: inspect.Type, path: Path) -> Iterator[Finding]:
    if value is None:
        return
    if expected := _expected(value, kind):
        yield path, f"{expected} was expected, not {_shown(value)}"
        return
    for key, item, inner in _parts(value, kind):
        if inner is not None:
            yield from _wrong(item, inner, (*path, key))
    if isinstance(kind, inspect.StructType) and (tree := as_tree(value)) is not None:
        missing = [field.encode_name for field in kind.fields if field.required and field.encode_name not in tree]
        yield from ((path, f"{name} is missing") for name in missing)


def _unknown(value: Any, kind: inspect.Type, path: Path) -> Iterator[tuple[Path, list[str]]]:
    for key, item, inner in _parts(value, kind):
        if inner is None:
            known = [field.encode_name for field in kind.fields] if isinstance(kind, inspect.StructType) else []
            yield (*path, key), known
        else:
            yield from _unknown(item, inner, (*path, key))


def _known(value: Any, kind: inspect.Type) -> Any:
    """The value without unknown keys, and without nulls, which say nothing."""
    parts = list(_parts(value, kind))
    if as_list(value) and parts:
        return [_known(item, inner) for _, item, inner in parts if inner is not None]
    if as_tree(value) is not None and not isinstance(kind, inspect.AnyType):
        return {key: _known(item, inner) for key, item, inner in parts if inner is not None and item is not None}
    return value


def _expected(value: Any, kind: inspect.Type) -> str:
    """What should stand here instead; empty when the value is right."""
    match kind:
        case inspect.UnionType(types=types):
            wanted = [_expected(value, one) for one in types if not isinstance(one, inspect.NoneType)]
            return "" if not all(wanted) else " or ".join(dict.fromkeys(wanted))
        case inspect.LiteralType(values=values):
            return "" if value in values else " or ".join(f'"{one}"' for one in values)
        case inspect.StrType():
            return "" if isinstance(value, str) else "a text"
        case inspect.BoolType():
            return "" if isinstance(value, bool) else "true or false"
        case inspect.IntType(ge=low, le=high):
            return _number(value, int, "a whole number", low, high)
        case inspect.FloatType(ge=low, le=high):
            return _number(value, int | float, "a number", low, high)
        case inspect.VarTupleType():
            return "" if isinstance(value, list) else "a list"
        case inspect.StructType() | inspect.DictType():
            return "" if isinstance(value, dict) else "a table of keys"
        case _:
            return ""


def _number(value: Any, kind: Any, name: str, low: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        name = f"{name} from {low:g} to {high:,}"
    if not isinstance(value, kind) or isinstance(value, bool):
        return name
    return name if (low is not None and value < low) or (high is not None and value > high) else ""


def _shown(value: Any) -> str:
    """A value in words that give nothing away."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"{value}"
        case str():
            return "a text"
        case list():
            return "a list"
        case dict():
            return "a table of keys"
        case _:
            return f"a {type(value).__name__}"
