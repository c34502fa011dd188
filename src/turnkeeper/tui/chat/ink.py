"""What drawing is done with: lines of styled text, the room there is for them, and text made safe to show.

A span's style is a name (`muted`, `added`), which the widget looks up among its component classes; so drawing knows no
colour, and its lines can be read in a test.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from rich.ansi import AnsiDecoder
from textual.content import Content
from textual.strip import Strip

from turnkeeper.tui.chat.copied import broken, drawing
from turnkeeper.tui.glyphs import Glyphs

TEXT_WIDTH_MAX = 120
COLLAPSED_LINES = 10
EXPANDED_LINES_MAX = 2000
"""Of one body. Who wants to see more of it copies it."""
LINE_CHARACTERS_MAX = 4000
TAB = 4

STYLES = (
    *("muted", "strong", "emphasis", "struck", "title", "subject", "good", "bad", "warn", "accent", "author"),
    *("thought", "heading", "link", "code", "quote", "rule", "gutter", "added", "removed", "added-word"),
    *("removed-word", "hint", "banner", "focus", "found", "found-here", "prompt"),
    *("code-keyword", "code-string", "code-number", "code-comment", "code-name", "code-type", "code-builtin"),
)
"""Every name a span or a line may have as its style."""

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_COLOUR = re.compile(r"(\x1b\[[0-9;:]*m)")
# Also what turns the direction of writing: a line must read as what it is.
CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff"
"""What moves a cursor or turns the direction of writing, as a range of characters; tabs and line ends are text."""
_CONTROLS = re.compile(f"[{CONTROLS}]")


@dataclass(eq=False, slots=True)
class Line:
    """One row. `fill` is the style of the whole row; its strip is kept with it once it was in sight."""

    content: Content
    fill: str = ""
    inset: int = 0
    """How many cells at its beginning are not filled."""
    strip: Strip | None = field(default=None, repr=False)
    margin: "Line | None" = field(default=None, repr=False)
    """The same with a margin before it."""


@dataclass(frozen=True, slots=True)
class Ink:
    """The room, the signs and the wishes that something is drawn with."""

    width: int
    glyphs: Glyphs
    plain: bool = False
    expanded: bool = False
    split: bool | None = None
    """Diffs side by side; None: where there is room."""
    shift: int = 0
    """By how many cells what does not wrap is moved to the left."""
    times: bool = False
    name_of: Callable[[str], str] = str
    clock: Callable[[int], str] = str
    """A Unix second as the time of day."""
    workdir: str = ""
    answer_key: str = ""
    """What brings back a request that was put aside."""

    @property
    def text_width(self) -> int:
        return max(8, min(self.width, TEXT_WIDTH_MAX))

    @property
    def room(self) -> int:
        """How many lines a body may have."""
        return EXPANDED_LINES_MAX if self.expanded else COLLAPSED_LINES

    def path(self, path: str) -> str:
        """A path as it is called from the workspace."""
        root = self.workdir.rstrip("/")
        if not root:
            return path
        return "." if path.rstrip("/") == root else path.removeprefix(f"{root}/")


@dataclass(frozen=True, slots=True)
class Drawn:
    """An item on paper, and what can be done with it."""

    lines: Sequence[Line]
    text: str = ""
    """What copying it gives."""
    expandable: bool = False
    code: Sequence[str] = ()
    """The code blocks in it."""
    links: Sequence[str] = ()


def cleaned(text: str) -> str:
    """Text that can do nothing but be read: no escape sequences, no control characters, tabs as spaces."""
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _CONTROLS.sub("", text)
    return text.expandtabs(TAB) if "\t" in text else text


def redrawn(text: str) -> str:
    """Of a line that a program drew again and again, as it shows progress, only the last state."""
    if "\r" not in text:
        return text
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))


def coloured(text: str) -> list[Content]:
    """The lines of a program's output in the colours it gave them; of what else it asked of a terminal, nothing."""
    kept = _ESCAPES.sub(lambda found: found[0] if _COLOUR.fullmatch(found[0]) else "", text.replace("\r\n", "\n"))
    decoder = AnsiDecoder()
    lines: list[Content] = []
    for line in kept.strip("\n").split("\n"):
        safe = "".join(piece if _COLOUR.fullmatch(piece) else cleaned(piece) for piece in _COLOUR.split(line))
        lines.append(Content.from_rich_text(decoder.decode_line(safe)))
    return lines


def one_line(text: str) -> str:
    return " ".join(cleaned(text[:LINE_CHARACTERS_MAX]).split())


def styled(text: str, style: str = "") -> Content:
    return Content.styled(text, style) if style else Content(text)


def joined(*parts: Content | str | tuple[str, str]) -> Content:
    return Content.assemble(*parts)


def wrapped(content: Content, width: int) -> list[Content]:
    """Broken between words; what is longer than a line is broken within."""
    width = max(2, width)
    if "\n" not in content.plain and content.cell_length <= width:
        return [content]
    return broken(content.plain, content.wrap(width))


def folded(content: Content, width: int) -> list[Content]:
    """Broken where the line is full, as a terminal does."""
    width = max(2, width)
    return [content] if content.cell_length <= width else broken(content.plain, content.fold(width))


Break = Callable[[Content, int], list[Content]]
"""How a line that is too long is broken: `wrapped` for sentences, `folded` for what a program wrote."""


def clipped(content: Content, width: int, *, shift: int = 0, ellipsis: str = "…") -> Content:
    """As much as fits, from the cell `shift` on."""
    if shift:
        content = content[min(shift, len(content)) :]
    if content.cell_length <= width:
        return content
    return joined(content.truncate(max(0, width - len(ellipsis))), (ellipsis, "muted"))


def indented(lines: Iterable[Content], first: Content | str, rest: Content | str | None = None) -> list[Content]:
    """With `first` before the first line and `rest` (as many spaces, if none is given) before the others."""
    begin = first if isinstance(first, Content) else Content(first)
    follow = drawing(" " * begin.cell_length) if rest is None else rest
    return [joined(begin if at == 0 else follow, line) for at, line in enumerate(lines)]


def lines_of(contents: Iterable[Content], fill: str = "") -> list[Line]:
    return [Line(content, fill) for content in contents]


def more_lines(count: int, ink: Ink, *, before: bool = False) -> Content:
    """What a body that is cut says of the rest."""
    what = counted(count, "earlier line" if before else "more line")
    how = "" if ink.expanded else " (space expands)"
    return styled(f"{ink.glyphs.ellipsis} {what}{how}", "hint")


def counted(count: int, what: str, many: str = "") -> str:
    return f"{count} {what if count == 1 else many or what + 's'}"
