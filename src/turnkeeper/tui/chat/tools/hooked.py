"""What the user's programs said to a tool's use, before it and after it: one line each."""

from collections.abc import Iterable, Mapping
from typing import Any, cast

from turnkeeper.tui.chat.ink import Ink, clipped, lines_of, one_line, styled
from turnkeeper.tui.chat.shown import Body, Facts

_WHEN = {"hook": "hook", "hook_after": "hook afterwards"}
_WORDS = {"allow": ("allowed it", "good"), "deny": ("denied it", "bad"), "ask": ("asked for a person", "muted")}


def hooked(facts: Facts, ink: Ink) -> Body:
    return Body(lines_of(clipped(styled(*line), ink.width) for line in _lines(facts)))


def _lines(facts: Facts) -> Iterable[tuple[str, str]]:
    for key, when in _WHEN.items():
        value = facts.told.get(key)
        if not isinstance(value, dict):
            continue
        told = cast(Mapping[str, Any], value)
        said, style = _WORDS.get(str(told.get("decision")), ("", "muted"))
        words = [said] if said else []
        if told.get("halt") is True:
            words, style = [*words, "ended the turn"], "bad"
        if told.get("input_rewrite") is True:
            words.append("changed what it was given")
        if words:
            reason = one_line(str(told.get("reason") or ""))
            yield f"{when}: {', '.join(words)}{f' ({reason})' if reason else ''}", style
