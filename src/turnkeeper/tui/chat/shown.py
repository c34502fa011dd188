"""What a renderer says of one use of a tool: a title, what it was used on, notes, and a body that fits its room."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

from textual.content import Content

from turnkeeper.tui.chat.code import highlighted
from turnkeeper.tui.chat.copied import drawing, text_in
from turnkeeper.tui.chat.diff_view import draw_change
from turnkeeper.tui.chat.diffs import Change, looks_like_a_diff, read_diff
from turnkeeper.tui.chat.ink import (
    Break,
    Ink,
    Line,
    cleaned,
    clipped,
    coloured,
    folded,
    joined,
    lines_of,
    one_line,
    redrawn,
    styled,
    wrapped,
)
from turnkeeper.tui.chat.items import Standing, Used
from turnkeeper.tui.chat.markdown import markdown

PARSED_CHARACTERS_MAX = 2_000_000
CACHED_CHARACTERS_MAX = 4_000
NUMBERED_MIN_DIGITS = 3

Note = tuple[str, str] | Content
"""A text and its style, or one with several styles."""


@dataclass(frozen=True, slots=True)
class Body:
    """The lines that are shown, and how many are not: after them, or before them where the end counts."""

    lines: Sequence[Line] = ()
    more: int = 0
    is_end: bool = False
    copied: str = ""
    """What copying gives, where that is more than is shown."""


@dataclass(frozen=True, slots=True)
class Shown:
    title: str
    subject: str = ""
    notes: tuple[Note, ...] = ()
    bodies: tuple[Body, ...] = ()
    went_wrong: bool = False
    """It was used as it should be, and what it did failed: a command that ended badly."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What a use was given and what it told, as far as it can be read."""

    given: Mapping[str, Any]
    told: Mapping[str, Any]

    def text(self, name: str) -> str:
        value = self.given.get(name)
        return value if isinstance(value, str) else ""

    def number(self, name: str) -> int:
        for values in (self.given, self.told):
            value = values.get(name)
            if isinstance(value, int | float) and not isinstance(value, bool):
                return int(value)
        return 0

    def told_text(self, name: str) -> str:
        value = self.told.get(name)
        return value if isinstance(value, str) else ""

    def items(self, name: str) -> list[Mapping[str, Any]]:
        """A list of objects, of what was told or else given."""
        for values in (self.told, self.given):
            value = values.get(name)
            if isinstance(value, list):
                return [cast(Mapping[str, Any], one) for one in cast(list[Any], value) if isinstance(one, dict)]
        return []


Renderer = Callable[[Used, Facts, Ink], Shown]


def facts_of(used: Used) -> Facts:
    return Facts(_object(used.input), _object(used.metadata))


def _object(text: str) -> Mapping[str, Any]:
    return _small_object(text) if len(text) <= CACHED_CHARACTERS_MAX else _read(text)


@lru_cache(512)
def _small_object(text: str) -> Mapping[str, Any]:
    return _read(text)


def _read(text: str) -> Mapping[str, Any]:
    """A JSON object; of one that is still being written, the texts that can be read already."""
    if not text or len(text) > PARSED_CHARACTERS_MAX:
        return {}
    try:
        value: Any = json.loads(text)
    except ValueError:
        return {name: _unquoted(value) for name, value in _WRITTEN.findall(text)}
    return cast(Mapping[str, Any], value) if isinstance(value, dict) else {}


_WRITTEN = re.compile(r'"(\w+)"\s*:\s*"((?:[^"\\]|\\.)*)')


def _unquoted(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        return text


def text_of(lines: Iterable[Line]) -> str:
    return text_in(line.content for line in lines)


# Bodies


def output_body(text: str, ink: Ink, *, is_end: bool = False, style: str = "muted", breaks: Break = folded) -> Body:
    """Text as it came: its first lines, or its last."""
    text = redrawn(text)
    shown = cleaned(text).strip("\n")
    if not shown:
        return Body()
    if looks_like_a_diff(shown):
        return change_body(read_diff(shown), ink, copied=text)
    lines = coloured(text) if "\x1b[" in text else [styled(line, style) for line in shown.split("\n")]
    room = ink.room
    few = lines[-room:] if is_end else lines[:room]
    drawn = [piece for line in few for piece in breaks(line, ink.width)]
    kept = drawn[-room:] if is_end else drawn[:room]
    # A long line takes more than one row; what is cut is counted in rows as they are shown.
    return Body(lines_of(kept), len(lines) - len(few) + len(drawn) - len(kept), is_end, text)


def code_body(text: str, ink: Ink, *, path: str = "", language: str = "", start: int = 1) -> Body:
    """Source text with line numbers, from its first line on."""
    lines = cleaned(text).removesuffix("\n").split("\n")
    few = lines[: ink.room]
    coloured = highlighted("\n".join(few), path=path, language=language) or [Content("")]
    if ink.plain:
        rows = [clipped(joined(f"{at}: ", line), ink.width) for at, line in enumerate(coloured, start)]
        return Body(lines_of(rows), len(lines) - len(few), copied=text)
    digits = max(NUMBERED_MIN_DIGITS, len(str(start + len(lines) - 1)))
    rows = [
        joined(
            drawing(styled(f"{number:>{digits}} ", "gutter")),
            clipped(line, ink.width - digits - 1, shift=ink.shift, ellipsis=ink.glyphs.ellipsis),
        )
        for number, line in enumerate(coloured, start)
    ]
    return Body(lines_of(rows), len(lines) - len(few), copied=text)


def change_body(change: Change, ink: Ink, *, path: str = "", copied: str = "") -> Body:
    lines, count = draw_change(change, ink, path=path, width=ink.width, rows_max=ink.room)
    if change.is_cut and len(lines) == count:
        lines.append(Line(styled(f"{ink.glyphs.ellipsis} the diff goes on", "hint")))
    return Body(lines, max(0, count - len(lines)), copied=copied)


def markdown_body(text: str, ink: Ink) -> Body:
    lines = lines_of(markdown(text, ink).lines)
    return Body(lines[: ink.room], max(0, len(lines) - ink.room), copied=text)


def any_body(text: str, ink: Ink) -> Body:
    """Whatever a stranger's tool answered: JSON and diffs are known by their looks, Markdown by its."""
    stripped = text.strip()
    if stripped[:1] in ("{", "[") and len(stripped) < PARSED_CHARACTERS_MAX:
        try:
            pretty = json.dumps(json.loads(stripped), indent=2, ensure_ascii=False)
        except ValueError:
            return output_body(text, ink)
        return Body(*_head(highlighted(pretty, language="json"), ink), copied=text)
    if not looks_like_a_diff(stripped) and re.search(r"^(#{1,6} |[-*] \S|```|\|.*\|$)", stripped, re.MULTILINE):
        return markdown_body(text, ink)
    return output_body(text, ink)


def _head(contents: Sequence[Content], ink: Ink) -> tuple[list[Line], int]:
    few = [clipped(line, ink.width, ellipsis=ink.glyphs.ellipsis) for line in contents[: ink.room]]
    return lines_of(few), len(contents) - len(few)


_DENIED = re.compile(r"\A(?:User denied permission|Permission denied)(?:: )?")


def failure_body(used: Used, ink: Ink) -> Body:
    """What went wrong in the tool's own words, where they say more than the state does."""
    match used.standing:
        case Standing.CANCELLED | Standing.INTERRUPTED | Standing.UNUSED:
            return Body()
        case Standing.DENIED:
            return output_body(_DENIED.sub("", used.content), ink, style="bad", breaks=wrapped)
        case _:
            return output_body(used.content, ink, style="bad", breaks=wrapped)


def arguments(given: Mapping[str, Any], leave_out: Iterable[str] = ()) -> tuple[Note, ...]:
    """What else a use was given, as `key=value, …`."""
    without = set(leave_out)
    parts = [f"{name}={one_line(_short(value))}" for name, value in given.items() if name not in without]
    parts = [part for part in parts if not part.endswith(("=", "=None"))]
    return ((", ".join(parts), "muted"),) if parts else ()


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."
