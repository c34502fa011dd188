"""Each kind of item as lines. Every line begins with a margin, in which the widget marks what has the focus.

The first line of an item is empty, so that what follows one another never touches.
"""

from collections.abc import Sequence
from dataclasses import replace

from textual.content import Content

from turnkeeper.tui.chat.copied import drawing
from turnkeeper.tui.chat.ink import (
    Drawn,
    Ink,
    Line,
    cleaned,
    clipped,
    counted,
    indented,
    joined,
    lines_of,
    more_lines,
    one_line,
    styled,
    wrapped,
)
from turnkeeper.tui.chat.items import (
    Attached,
    Ending,
    EndKind,
    Footer,
    Item,
    Picture,
    Prompt,
    Said,
    Shell,
    Summary,
    Thought,
    Used,
    Working,
)
from turnkeeper.tui.chat.shown import Body, output_body, text_of
from turnkeeper.tui.chat.streaming import Stream, stream, whole
from turnkeeper.tui.chat.tools.heading import heading
from turnkeeper.tui.chat.tools.registry import shown
from turnkeeper.tui.chat.tools.shell import shell_text
from turnkeeper.tui.side.activity import amount, clock, money

MARGIN = 2
BODY_INDENT = 2
THOUGHT_LINES = 4
PROMPT_LINES_MAX = 24
"""A longer prompt is cut until it is expanded."""


def draw(item: Item, ink: Ink, before: Stream | None = None) -> tuple[Drawn, Stream | None]:
    """The item on paper. What is still being written goes on from what was drawn `before`."""
    narrow = replace(ink, width=max(12, ink.width - 2 * MARGIN))
    known: Stream | None = None
    match item:
        case Said(writing=True) | Summary(writing=True):
            known, drawn = stream(item.text, narrow, before)
            drawn = _summary(drawn, narrow) if isinstance(item, Summary) else drawn
        case Said():
            drawn = whole(item.text, narrow)
        case Summary():
            drawn = _summary(whole(item.text, narrow), narrow)
        case Used():
            drawn = use(item, narrow)
        case Prompt():
            drawn = prompt(item, narrow)
        case Shell():
            drawn = shell(item, narrow)
        case Thought():
            drawn = thought(item, narrow)
        case Ending():
            drawn = ending(item, narrow)
        case Footer():
            drawn = footer(item, narrow)
        case Picture():
            drawn = Drawn(lines_of([_file(item.attached, narrow)]), item.attached.name)
        case Working():
            drawn = working(item, narrow)
    return replace(drawn, lines=[Line(Content("")), *map(_with_margin, drawn.lines)]), known


_MARGIN = drawing(" " * MARGIN)


def _with_margin(line: Line) -> Line:
    """The same line for the same line, so that what was drawn of it is kept."""
    if line.margin is None:
        line.margin = Line(joined(_MARGIN, line.content), line.fill, MARGIN + line.inset)
    return line.margin


def prompt(item: Prompt, ink: Ink) -> Drawn:
    author = ink.name_of(item.author)
    time = f" {ink.clock(item.at)}" if ink.times and item.at else ""
    width = ink.text_width - 2
    text = [piece for line in cleaned(item.text).split("\n") for piece in wrapped(Content(line), width)]
    text = text if item.text else []
    cut = 0 if ink.expanded else max(0, len(text) - PROMPT_LINES_MAX)
    rows = text[: PROMPT_LINES_MAX if cut else None]
    if cut:
        rows.append(more_lines(cut, ink))
    rows += [_file(attached, ink) for attached in item.attached]
    if ink.plain:
        return Drawn(lines_of([Content(f"{author} said{time}:"), *rows]), item.text, bool(cut))
    head = joined((author, "author"), (time, "muted"))
    sign = drawing(styled(f"{ink.glyphs.person} ", "prompt"))
    return Drawn(lines_of(indented([head, *rows], sign, sign)), item.text, bool(cut) or len(text) > PROMPT_LINES_MAX)


def _file(attached: Attached, ink: Ink) -> Content:
    is_image = attached.mime_type.startswith("image")
    sign = "" if ink.plain else f"{ink.glyphs.image if is_image else ink.glyphs.file} "
    what = "picture" if is_image else "file"
    size = f", {_size(attached.size_bytes)}" if attached.size_bytes else ""
    name = ink.path(one_line(attached.name)) or what
    return clipped(joined((f"{sign}", "accent"), name, (f" ({what}{size})", "muted")), ink.width)


def _size(count: int) -> str:
    return f"{count} bytes" if count < 1024 else f"{count / 1024:.0f} KiB" if count < 1 << 20 else f"{count >> 20} MiB"


def thought(item: Thought, ink: Ink) -> Drawn:
    """Folded to its last lines; they are what it came to."""
    said = "Thinking" if item.thinking else f"Thought for {clock(item.seconds)}" if item.seconds else "Thought"
    sign = "" if ink.plain else f"{ink.glyphs.thinking} "
    width = ink.text_width - BODY_INDENT
    text = cleaned(item.text).strip().split("\n")
    # Folded, only the end is broken into lines: there may be much of it, and it may grow with every look.
    near = text if ink.expanded else text[-THOUGHT_LINES:]
    lines = [piece for line in near for piece in wrapped(styled(line, "thought"), width)]
    above = len(text) - len(near)
    cut = 0 if ink.expanded else max(0, len(lines) - THOUGHT_LINES)
    note = f" ({counted(above + cut, 'earlier line')}; space expands)" if above + cut else ""
    head = joined((sign, "muted"), (said, "muted"), (note, "hint"))
    return Drawn(lines_of([head, *indented(lines[cut:], drawing("  "))]), item.text, above + len(lines) > THOUGHT_LINES)


def shell(item: Shell, ink: Ink) -> Drawn:
    author = ink.name_of(item.author) if item.author else ""
    time = f" {ink.clock(item.at)}" if ink.times and item.at else ""
    going_on = (f" {item.going_on}" if item.going_on else "", "accent")
    ending = (f" exit {item.exit_code}", "bad") if item.exit_code else going_on
    inner = replace(ink, width=ink.width - BODY_INDENT)
    body = output_body(item.output, inner, is_end=True)
    if ink.plain:
        head = joined(f"{author or 'somebody'} ran{time}: {one_line(item.command)}", ending)
    else:
        sign = (f"{ink.glyphs.shell} ", "prompt")
        head = joined(sign, (one_line(item.command), "title"), ending, (f" {author}{time}".rstrip(), "muted"))
    lines = [Line(clipped(head, ink.width)), *_body_lines(body, ink)]
    return Drawn(lines, shell_text(item.command, item.output, item.exit_code), body.more > 0 or ink.expanded)


def use(item: Used, ink: Ink) -> Drawn:
    """A tool's use: its heading, and below it what it did."""
    inner = replace(ink, width=ink.width - BODY_INDENT)
    said = shown(item, inner)
    head = heading(item, said, ink)
    lines = [Line(head)]
    for body in said.bodies:
        lines += _body_lines(body, ink)
    texts = [body.copied or text_of(body.lines) for body in said.bodies if body.lines or body.copied]
    text = "\n".join([f"{said.title} {said.subject}".rstrip(), *texts])
    code = [body.copied for body in said.bodies if body.copied]
    cut = any(body.more for body in said.bodies) or bool(item.nested)
    return Drawn(lines, text, cut or ink.expanded, code)


def _body_lines(body: Body, ink: Ink) -> Sequence[Line]:
    pad = drawing(" " * BODY_INDENT)
    rows = [Line(joined(pad, line.content), line.fill, BODY_INDENT) for line in body.lines]
    if body.more:
        hint = Line(joined(pad, more_lines(body.more, ink, before=body.is_end)))
        return [hint, *rows] if body.is_end else [*rows, hint]
    return rows


def _summary(drawn: Drawn, ink: Ink) -> Drawn:
    """Everything before it is, for the model, what it says here."""
    title = " Summary: the model goes on from here "
    if ink.plain:
        head = Content("Summary, the model goes on from here:")
    else:
        rule = ink.glyphs.rule
        head = joined((rule * 2, "rule"), (title, "accent"), (rule * max(0, ink.text_width - len(title) - 2), "rule"))
    return replace(drawn, lines=[Line(head), *drawn.lines])


_SAID = {
    EndKind.FAILED: "Failed",
    EndKind.CANCELLED: "Cancelled",
    EndKind.INTERRUPTED: "Interrupted: the server stopped during this run",
    EndKind.REFUSED: "The model refused to answer",
    EndKind.CUT: "The answer was cut short: the model's limit for one answer was reached",
}
_ADVICE = {
    "provider": "The model's provider had trouble.",
    "auth": "Check the provider's key: open the commands and choose the provider's settings.",
    "limit": "A limit of this run was reached; raise it, or send a smaller prompt.",
    "tool": "A tool could not do its work; what it said is above.",
    "policy": "The provider's policy does not allow this; put it in other words, or choose another model.",
    "server": "Look into the server's logs for more.",
    "user": "Change the prompt or the settings it names, and send it again.",
}


def ending(item: Ending, ink: Ink) -> Drawn:
    """What happened, why, and what to do next."""
    is_bad = item.kind in (EndKind.FAILED, EndKind.REFUSED)
    style = "bad" if is_bad else "warn"
    sign = "" if ink.plain else f"{ink.glyphs.failed if is_bad else ink.glyphs.stopped} "
    said = _SAID[item.kind]
    if item.kind is EndKind.FAILED and item.title:
        said = f"{said}: {one_line(item.title)}"
    if item.stopped:
        said += f"; stopped: {', '.join(dict.fromkeys(item.stopped))}"
    lines = indented(wrapped(styled(said, style), ink.text_width - len(sign)), styled(sign, style))
    rows: list[Content] = []
    if item.message and item.kind in (EndKind.FAILED, EndKind.REFUSED):
        rows += [piece for line in cleaned(item.message).split("\n") for piece in wrapped(Content(line), ink.width - 2)]
    if item.denied:
        rows += wrapped(styled(f"not allowed: {', '.join(map(one_line, item.denied))}", "muted"), ink.text_width - 2)
    if advice := _advice(item):
        rows += wrapped(styled(advice, "hint"), ink.text_width - 2)
    text = "\n".join(filter(None, (said, item.message)))
    return Drawn(lines_of([*lines, *indented(rows, drawing("  "))]), text)


def _advice(item: Ending) -> str:
    match item.kind:
        case EndKind.INTERRUPTED:
            return "Send the prompt again to go on; what was done until then is kept."
        case EndKind.CUT:
            return "Ask it to go on, or for less at once."
        case EndKind.REFUSED:
            return "Put it in other words, or choose another model."
        case EndKind.CANCELLED:
            return ""
        case EndKind.FAILED:
            again = "Sending the prompt again may help." if item.retryable else ""
            return " ".join(filter(None, (_ADVICE.get(item.cause, ""), again)))


def footer(item: Footer, ink: Ink) -> Drawn:
    parts: list[str] = []
    if item.model:
        named = one_line(item.model)
        parts.append(f"{named} via {one_line(item.provider)}" if item.provider not in ("", item.model) else named)
    if item.seconds:
        parts.append(f"{item.seconds:.1f}s" if item.seconds < 10 else clock(item.seconds))
    if item.steps > 1:
        parts.append(f"{item.steps} steps")
    if usage := item.usage:
        about = "~" if usage.estimated else ""
        read = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
        parts.append(f"{about}{amount(read)} tokens in, {amount(usage.output_tokens)} out")
        if usage.cost:
            parts.append(f"{about}{money(usage.cost)}")
    sign = "" if ink.plain else f"{ink.glyphs.model} "
    text = ("," if ink.plain else " ·" if ink.glyphs.name == "unicode" else " |").join(
        f" {part}" if at else part for at, part in enumerate(parts)
    )
    return Drawn(lines_of([clipped(joined((sign, "muted"), (text, "muted")), ink.width)]), text)


def working(item: Working, ink: Ink) -> Drawn:
    said = "stopping" if item.stopping else item.what
    sign = "" if ink.plain else f"{ink.glyphs.stopped if item.stopping else ink.glyphs.running} "
    return Drawn(lines_of([joined((sign, "accent"), (said + ink.glyphs.ellipsis, "muted"))]), said)
