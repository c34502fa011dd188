"""Changes to the text of a JSON file that leave the rest of it, comments and all, as it was."""

import json
import re
from collections.abc import Sequence
from typing import Any

from turnkeeper.settings import marks

INDENT = "  "
_COMMA = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*,", re.DOTALL)


def with_value(text: str, path: Sequence[str | int], value: Any) -> str:
    """The text with one value replaced or added. `path` must lead through objects and lists, or through nothing yet."""
    if not text.strip():
        text = "{}\n"
    found = marks.json_marks(text)
    if mark := found.get(tuple(path)):
        return text[: mark.start] + _written(value, _depth_of_line(text, mark.start)) + text[mark.end :]
    deepest = max((length for length in range(len(path)) if tuple(path[:length]) in found), default=0)
    for key in reversed(path[deepest + 1 :]):
        value = [value] if isinstance(key, int) else {key: value}
    around, key = tuple(path[:deepest]), path[deepest]
    if text[found[around].start] in "{[":
        return _added(text, found, around, key, value)
    return with_value(text, around, [value] if isinstance(key, int) else {key: value})


def without_value(text: str, path: Sequence[str | int]) -> str:
    """The text without one member, and without the comma that separated it."""
    found = marks.json_marks(text)
    mark = found.get(tuple(path))
    if mark is None:
        return text
    begin, end = mark.key, mark.end
    if after := _comma_after(text, end):
        end = after
    elif previous := _last_before(found, tuple(path[:-1]), mark):
        comma = _comma_after(text, previous.end)
        text, begin, end = text[: comma - 1] + text[comma:], begin - 1, end - 1
    return _without_empty_line(text[:begin], text[end:])


def _added(text: str, found: dict[marks.Path, marks.Mark], parent: marks.Path, key: str | int, value: Any) -> str:
    around = found[parent]
    depth = _depth_of_line(text, around.start) + 1
    name = f"{json.dumps(key, ensure_ascii=False)}: " if isinstance(key, str) else ""
    member = name + _written(value, depth)
    members = [mark for path, mark in found.items() if path[:-1] == parent and path != parent]
    if not members:
        inner = text[around.start + 1 : around.end - 1].rstrip()
        closing = f"\n{INDENT * (depth - 1)}{text[around.end - 1]}"
        opening = f"{text[around.start]}{inner}\n{INDENT * depth}"
        return text[: around.start] + opening + member + closing + text[around.end :]
    last = max(members, key=lambda mark: mark.end)
    return text[: last.end] + f",\n{INDENT * depth}{member}" + text[last.end :]


def _written(value: Any, depth: int) -> str:
    return json.dumps(value, indent=len(INDENT), ensure_ascii=False).replace("\n", "\n" + INDENT * depth)


def _depth_of_line(text: str, at: int) -> int:
    line = text[text.rfind("\n", 0, at) + 1 :]
    spaces = len(line) - len(line.lstrip(" \t"))
    return spaces if line.startswith("\t") else spaces // len(INDENT)


def _comma_after(text: str, at: int) -> int:
    """The offset behind the comma that follows, over blanks and comments; 0 when none does."""
    found = _COMMA.match(text, at)
    return found.end() if found else 0


def _last_before(found: dict[marks.Path, marks.Mark], parent: marks.Path, mark: marks.Mark) -> marks.Mark | None:
    earlier = [one for path, one in found.items() if path and path[:-1] == parent and one.end <= mark.key]
    return max(earlier, key=lambda one: one.end, default=None)


def _without_empty_line(before: str, after: str) -> str:
    line_before = before[before.rfind("\n") + 1 :]
    line_after = after[: after.find("\n") + 1]
    if not line_before.strip() and line_after and not line_after.strip():
        return before[: len(before) - len(line_before)] + after[len(line_after) :]
    return before + after
