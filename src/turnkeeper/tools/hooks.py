"""Hooks: commands of the user's that are told what happens, and may object. What they say, and what follows from it.

Everything here is pure. A hook answers with its exit code (0: read what it says, 2: deny, 49: deny and end the turn,
anything else: it failed and has no opinion) and with JSON, in our own form or in Claude Code's. Whoever began to answer
and cannot be understood has failed as well: what was meant may have been a no. A hook that fails is always named among
the `failures`; one that is `blocking` denies when it fails.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

import msgspec

Decision = Literal["allow", "deny", "ask", "none"]
"""`ask`: a person is to decide, whatever rules allow."""
EVENTS = ("PreToolUse", "PostToolUse", "SessionStart", "UserPromptSubmit", "RunComplete", "Notification")
OTHER_NAMES = {"stop": "runcomplete"}
"""As other agents call them."""
TEXT_IS_CONTEXT = frozenset({"SessionStart", "UserPromptSubmit"})
"""The events at which whatever a hook says is context, as Claude Code has it."""
WORDS: Mapping[str, Decision] = {
    "allow": "allow",
    "approve": "allow",
    "deny": "deny",
    "block": "deny",
    "ask": "ask",
    "none": "none",
}
"""How decisions are spelled; `approve` and `block` are Claude Code's older words."""
OBJECTIONS: tuple[Decision, ...] = ("deny", "ask")
"""The stronger one first."""
INNER = {
    "permissionDecision": "decision",
    "permissionDecisionReason": "reason",
    "additionalContext": "context",
    "updatedInput": "updated_input",
}
"""Claude Code's names for what is ours, inside `hookSpecificOutput`."""
TIMEOUT_SECONDS = 30
DENY_CODE = 2
HALT_CODE = 49
DENIED = "blocked by hook"
HALTED = "turn halted by hook"
VERSION_KNOWN = 1
BYTE_ORDER_MARK = "\ufeff"
OBJECT_BEGINS = re.compile(r"^[ \t]*\{", re.MULTILINE)


class Hook(msgspec.Struct, frozen=True):
    """A command to run at an event. `matcher` is a regular expression searched in the tool's name; empty fits all."""

    command: str
    name: str = ""
    matcher: str = ""
    timeout: float = 0
    """Seconds; 0 means as long as the settings say."""
    blocking: bool = False
    """Whether its failure denies."""

    @property
    def title(self) -> str:
        return self.name or self.command


class Said(msgspec.Struct, frozen=True):
    """What one hook has to say."""

    decision: Decision = "none"
    halt: bool = False
    reason: str = ""
    context: str = ""
    updated_input: Any = None
    failure: str = ""


class HookResult(msgspec.Struct, frozen=True):
    hook: Hook
    said: Said


class HookAggregate(msgspec.Struct, frozen=True):
    """What all hooks of one event say together."""

    decision: Decision = "none"
    halt: bool = False
    reason: str = ""
    context: str = ""
    updated_input: dict[str, Any] | None = None
    """The tool's whole input as it is to be, if a hook changed it."""
    results: tuple[HookResult, ...] = ()
    failures: tuple[str, ...] = ()

    @property
    def refusal(self) -> str:
        """What the model is told instead of a result; empty when the call may go on."""
        if self.halt:
            return f"Turn halted by hook. Reason: {self.reason or HALTED}"
        return f"Tool call blocked by hook. Reason: {self.reason or DENIED}" if self.decision == "deny" else ""

    def metadata(self) -> dict[str, Any]:
        """The `hook` object of a result's metadata; empty if no hook ran."""
        if not self.results:
            return {}
        shown: dict[str, Any] = {"hook_count": len(self.results), "decision": self.decision}
        shown |= _said_of(self.halt, self.reason, rewrites=self.updated_input is not None)
        shown["hooks"] = [_shown(result) for result in self.results]
        if self.failures:
            shown["failures"] = list(self.failures)
        return shown


def event_named(name: str) -> str:
    """The event, however its name is written (`pre_tool_use`, `PRETOOLUSE`); empty if there is none."""
    plain = name.replace("_", "").replace("-", "").lower()
    plain = OTHER_NAMES.get(plain, plain)
    return next((event for event in EVENTS if event.lower() == plain), "")


def problems_of(config: Mapping[str, Sequence[Hook]]) -> list[str]:
    """What is wrong with a configuration of hooks."""
    problems: list[str] = []
    for name, hooks in config.items():
        if not event_named(name):
            problems.append(f"hooks.{name}: there is no such event; known: {', '.join(EVENTS)}")
        for at, hook in enumerate(hooks):
            if not hook.command.strip():
                problems.append(f"hooks.{name}[{at}]: command is required")
            if hook.timeout < 0:
                problems.append(f"hooks.{name}[{at}]: timeout must not be negative")
            if invalid := _invalid(hook.matcher):
                problems.append(f"hooks.{name}[{at}]: invalid matcher regex {hook.matcher!r}: {invalid}")
    return problems


def matching(hooks: Sequence[Hook], subject: str) -> tuple[Hook, ...]:
    """The hooks for a subject (a tool's name), each command once. An invalid matcher matches nothing."""
    fitting = [hook for hook in hooks if hook.command.strip() and _matches(hook.matcher, subject)]
    return tuple({hook.command: hook for hook in reversed(fitting)}.values())[::-1]


def _matches(matcher: str, subject: str) -> bool:
    if matcher in ("", "*"):
        return True
    return not _invalid(matcher) and re.search(matcher, subject) is not None


def _invalid(matcher: str) -> str:
    if matcher in ("", "*"):
        return ""
    try:
        re.compile(matcher)
    except re.error as error:
        return str(error)
    return ""


def heard(exit_code: int, stdout: str, stderr: str, *, event: str = "PreToolUse") -> Said:
    """What a hook means by its end."""
    match exit_code:
        case 0:
            return parse_stdout(stdout, event=event)
        case code if code == DENY_CODE:
            return Said("deny", reason=stderr.strip() or DENIED)
        case code if code == HALT_CODE:
            return Said("deny", halt=True, reason=stderr.strip() or HALTED)
        case code:
            said = stderr.strip().splitlines()
            return Said(failure=f"exit code {code}" + (f": {said[-1]}" if said else ""))


def parse_stdout(text: str, *, event: str = "PreToolUse") -> Said:
    """What a hook says, in either form. What holds no JSON object is no opinion; lines before one are remarks."""
    text = text.strip().removeprefix(BYTE_ORDER_MARK).strip()
    begun = OBJECT_BEGINS.search(text)
    is_text = event in TEXT_IS_CONTEXT and (begun is None or begun.start() > 0)
    try:
        said = msgspec.json.decode(text[begun.start() :] if begun else "{}", type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        return Said(context=text) if is_text else Said(failure=f"its answer is no JSON object: {error}")
    meant = _meant(said, event)
    return msgspec.structs.replace(meant, context=text) if is_text else meant


def _meant(said: dict[str, Any], event: str) -> Said:
    specific = said.get("hookSpecificOutput")
    if isinstance(specific, dict):
        inner = cast(dict[str, Any], specific)
        said = said | {ours: inner[theirs] for theirs, ours in INNER.items() if inner.get(theirs) is not None}
    halt = said.get("halt") is True or said.get("continue") is False
    decision = _decision(said.get("decision"), event)
    return Said(
        decision=decision or "none",
        halt=halt,
        reason=_text(said.get("reason")) or (_text(said.get("stopReason")) if halt else ""),
        context=_context(said.get("context")),
        updated_input=_patch(said.get("updated_input")),
        failure="" if decision else f"it decided {said['decision']!r:.80}, which is no decision at {event}",
    )


def _decision(value: object, event: str) -> Decision | None:
    """None if nobody knows what was meant."""
    if value is None:
        return "none"
    decision = WORDS.get(value.strip().lower()) if isinstance(value, str) else None
    return None if decision == "ask" and event != "PreToolUse" else decision


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _context(value: object) -> str:
    if isinstance(value, list):
        return "\n".join(item for item in cast(list[object], value) if isinstance(item, str) and item)
    return _text(value)


def _patch(value: object) -> Any:
    """An object, or the JSON text of one; anything else is kept as it is, to be skipped."""
    if not isinstance(value, str):
        return value
    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return value


def aggregate(results: Sequence[HookResult], tool_input: object = None) -> HookAggregate:
    """One verdict of many: deny, ask, allow, in this order, a halt over all; patches are laid on the input in order."""
    results = tuple(_weighed(result) for result in results)
    said = [result.said for result in results]
    decision = _together(said)
    halt = any(one.halt for one in said)
    return HookAggregate(
        decision=decision,
        halt=halt,
        reason="\n".join(
            one.reason
            for one in said
            if one.reason and (one.halt or (one.decision == decision and decision in OBJECTIONS))
        ),
        context="\n".join(one.context for one in said if one.context),
        updated_input=None if decision == "deny" or halt else _patched(said, tool_input),
        results=results,
        failures=tuple(f"{result.hook.title}: {result.said.failure}" for result in results if result.said.failure),
    )


def _together(said: Sequence[Said]) -> Decision:
    for decision in OBJECTIONS:
        if any(one.decision == decision for one in said):
            return decision
    return "allow" if any(_holds(at, said) for at, one in enumerate(said) if one.decision == "allow") else "none"


def _holds(at: int, said: Sequence[Said]) -> bool:
    """Whether what is allowed is what was seen: no other hook has made another call of it."""
    return not any(_object(one.updated_input) is not None for one in (*said[:at], *said[at + 1 :]))


def _weighed(result: HookResult) -> HookResult:
    """The failure of a blocking hook is its no."""
    hook, said = result.hook, result.said
    if not said.failure or not hook.blocking:
        return result
    return HookResult(hook, msgspec.structs.replace(said, decision="deny", reason=f"{hook.title}: {said.failure}"))


def _patched(said: Sequence[Said], tool_input: object) -> dict[str, Any] | None:
    patches = [patch for one in said if (patch := _object(one.updated_input)) is not None]
    if not patches or not isinstance(tool_input, Mapping):
        return None
    whole = dict(cast(Mapping[str, Any], tool_input))
    for patch in patches:
        whole |= patch
    return whole


def _object(value: object) -> dict[str, Any] | None:
    return cast(dict[str, Any], value) if isinstance(value, dict) else None


def _shown(result: HookResult) -> dict[str, Any]:
    hook, said = result.hook, result.said
    shown: dict[str, Any] = {"name": hook.title}
    if hook.matcher:
        shown["matcher"] = hook.matcher
    shown["decision"] = said.decision
    return shown | _said_of(said.halt, said.reason, rewrites=_object(said.updated_input) is not None)


def _said_of(halt: bool, reason: str, *, rewrites: bool) -> dict[str, Any]:
    said = {"halt": halt, "reason": reason, "input_rewrite": rewrites}
    return {key: value for key, value in said.items() if value}
