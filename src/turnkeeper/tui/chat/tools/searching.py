"""Looking around: directories, names, contents, the web."""

import re

from turnkeeper.tui.chat.ink import Ink, counted, one_line
from turnkeeper.tui.chat.items import Used
from turnkeeper.tui.chat.shown import (
    Body,
    Facts,
    Note,
    Shown,
    any_body,
    arguments,
    failure_body,
    markdown_body,
    output_body,
)

_FENCED = re.compile(r"\A```(\w*)\n(.*?)\n?```\s*\Z", re.DOTALL)


def ls(used: Used, facts: Facts, ink: Ink) -> Shown:
    notes = _found(facts, "number_of_files", "entry", "entries")
    return Shown("List", ink.path(one_line(facts.text("path"))) or ".", notes, (_text(used, ink),))


def glob(used: Used, facts: Facts, ink: Ink) -> Shown:
    notes = _within(facts, ink) + _found(facts, "number_of_files", "file")
    paths = "\n".join(ink.path(line) for line in used.content.split("\n"))
    body = failure_body(used, ink) if used.is_error else output_body(paths, ink)
    return Shown("Glob", one_line(facts.text("pattern")), notes, (body,))


def grep(used: Used, facts: Facts, ink: Ink) -> Shown:
    notes = _within(facts, ink)
    if include := facts.text("include"):
        notes += ((f"only {one_line(include)}", "muted"),)
    notes += _found(facts, "number_of_matches", "match", "matches")
    text = re.sub(r"\AFound \d+ \w+\n+", "", used.content)
    text = "\n".join(ink.path(line) for line in text.split("\n"))
    body = failure_body(used, ink) if used.is_error else output_body(text, ink)
    return Shown("Grep", one_line(facts.text("pattern")), notes, (body,))


def fetch(used: Used, facts: Facts, ink: Ink) -> Shown:
    notes = arguments(facts.given, ("url", "prompt"))
    return Shown("Fetch", one_line(facts.text("url")), notes, (_page(used, facts, ink),))


def web_search(used: Used, facts: Facts, ink: Ink) -> Shown:
    body = failure_body(used, ink) if used.is_error else any_body(used.content, ink)
    return Shown("Web search", one_line(facts.text("query")), (), (body,))


def sourcegraph(used: Used, facts: Facts, ink: Ink) -> Shown:
    body = failure_body(used, ink) if used.is_error else markdown_body(used.content, ink)
    return Shown("Sourcegraph", one_line(facts.text("query")), (), (body,))


def _page(used: Used, facts: Facts, ink: Ink) -> Body:
    if used.is_error:
        return failure_body(used, ink)
    if found := _FENCED.match(used.content):
        return markdown_body(found[2], ink) if found[1] == "markdown" else output_body(found[2], ink)
    return output_body(used.content, ink) if facts.text("format") in ("text", "html") else any_body(used.content, ink)


def _text(used: Used, ink: Ink) -> Body:
    return failure_body(used, ink) if used.is_error else output_body(used.content, ink)


def _within(facts: Facts, ink: Ink) -> tuple[Note, ...]:
    path = ink.path(one_line(facts.text("path")))
    return ((f"in {path}", "muted"),) if path and path != "." else ()


def _found(facts: Facts, name: str, one: str, many: str = "") -> tuple[Note, ...]:
    if name not in facts.told:
        return ()
    cut = " or more" if facts.told.get("truncated") is True else ""
    return ((counted(facts.number(name), one, many) + cut, "muted"),)
