"""Judging a command line: safe to run unasked, banned, or for somebody to decide.

`judge` is a pure function. It errs in one direction: a line is `Safe` only when every command in it is known to do
nothing but look, and every part of its writing is understood; what cannot be read is for a person.
"""

import re
from collections.abc import Iterator
from shlex import quote

import msgspec

from turnkeeper.tools.shell_bans import STANDARD, Bans
from turnkeeper.tools.shell_limits import is_tangled
from turnkeeper.tools.shell_line import Command, Line
from turnkeeper.tools.shell_naming import spelled_out
from turnkeeper.tools.shell_options import stays_inside
from turnkeeper.tools.shell_parse import PLAIN_ASSIGNMENT, RESERVED, parse
from turnkeeper.tools.shell_reach import Shown, shown_by
from turnkeeper.tools.shell_safe import is_safe
from turnkeeper.tools.shell_shadows import SHADOWS_MAX, hidden_by, hidden_in, shadows_of, told_by_variables
from turnkeeper.tools.shell_words import ansi_quoted
from turnkeeper.tools.shell_words import shown as as_line
from turnkeeper.tools.shell_wrappers import RUNNERS, unwrap

DEPTH_MAX = 8
COMMANDS_MAX = 500
UNREMARKABLE = re.compile(r"CI|DEBUG|VERBOSE|NODE_ENV|RUST_(LOG|BACKTRACE)|PYTHON(UNBUFFERED|DONTWRITEBYTECODE)")
"""Variables that make a command say more or less, and never do something else."""
ANSI_QUOTED = re.compile(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL)


class Safe(msgspec.Struct, frozen=True):
    """The line only looks."""

    parts: tuple[str, ...] = ()
    shows: tuple[Shown, ...] = ()
    """Whose contents it shows, as its text tells."""
    moves: tuple[str, ...] = ()
    """The folders it goes to first."""


class Banned(msgspec.Struct, frozen=True):
    """The line runs what nobody may allow."""

    reason: str


class Ask(msgspec.Struct, frozen=True):
    """Somebody decides. Each part is something the line may do that a rule can match."""

    parts: tuple[str, ...]
    doubts: tuple[str, ...] = ()
    shadows: tuple[str, ...] = ()
    """What the line may run beside its parts, for prohibitions alone."""
    hides: str = ""
    """Why nobody can know what the line runs; empty if it is spelled out."""


Verdict = Safe | Banned | Ask
UNREAD = Line((), (), (), ("it cannot be read",), {})


def judge(text: str, *, inside: str = "", bans: Bans = STANDARD) -> Verdict:
    """What may become of a command line. `inside` is the absolute path of the workspace it runs in."""
    seen = _Seen(inside, bans)
    seen.read(text, depth=0)
    if seen.banned:
        return Banned(seen.banned)
    if seen.moves and seen.uses_git:
        # A repository below this one may have settings that run commands.
        seen.doubts.append("it uses git in another directory")
    parts = tuple(dict.fromkeys(seen.parts))
    if seen.doubts or not parts:
        doubts, shadows = tuple(dict.fromkeys(seen.doubts)), tuple(dict.fromkeys(filter(None, seen.shadows)))
        hides = "it may run too many things" if len(shadows) > SHADOWS_MAX else next(iter(seen.hides), "")
        return Ask(parts or (text.strip(),), doubts, shadows[:SHADOWS_MAX], hides)
    return Safe(parts, tuple(seen.shows), tuple(seen.moves))


class _Seen:
    """What is known of one line while its wrappers are opened."""

    def __init__(self, inside: str, bans: Bans) -> None:
        self.inside = inside
        self.bans = bans
        self.parts: list[str] = []
        self.doubts: list[str] = []
        self.shadows: list[str] = []
        self.hides: list[str] = []
        self.banned = ""
        self.shows: list[Shown] = []
        self.moves: list[str] = []
        self.uses_git = False

    def read(self, text: str, *, depth: int) -> None:
        line = UNREAD if is_tangled(text) else parse(text)
        self.doubts += line.doubts
        self.shadows += line.values
        self.hides += hidden_by(line)
        if "it cannot be read" in line.doubts:
            self.parts.append(f"(unreadable) {text.strip()}")
            self._ban_roughly(text)
        if line.reads:
            self._reads(line)
        for name, value in line.assigned.items():
            if not (PLAIN_ASSIGNMENT.fullmatch(name) or UNREMARKABLE.fullmatch(name)):
                # What allows a command allows it as it stands, and not with a variable by which it does something else.
                self.parts.append(f"{name}={quote(value)}")
        for write in line.writes:
            self.parts.append(write)
            self.doubts.append(f"it writes: {write}")
        for command in line.commands:
            self.weigh(command, line, depth=depth)

    def weigh(self, command: Command, line: Line, *, depth: int) -> None:
        self.banned = self.banned or self.bans.banned(command.words, line.assigned)
        if not command.words[0].literal:
            self._as_named(command, line, depth=depth)
        self.parts.append(command.text)
        self.shadows += shadows_of(command, line)
        self.shadows += told_by_variables(command, line.values)
        if depth >= DEPTH_MAX or len(self.parts) > COMMANDS_MAX:
            self.doubts.append("it is nested too deeply")
            self.hides.append("it is nested too deeply")
            self._ban_roughly(command.text)
            return
        inner = unwrap(command)
        self.hides += hidden_in(command, line, inner.doubts if inner else ())
        if inner is None:
            self._look(command)
            return
        self.doubts += inner.doubts
        for words in inner.words:
            self.weigh(Command(words, as_line(words), command.stdin), line, depth=depth + 1)
        for text in inner.texts:
            self.read(text, depth=depth + 1)

    def _as_named(self, command: Command, line: Line, *, depth: int) -> None:
        """What runs if the name comes to what the line tells, and if it comes to nothing, is a shadow of the line."""
        for words, is_told in spelled_out(command.words, line.assigned):
            seen = _Seen(self.inside, self.bans)
            seen.weigh(Command(words, as_line(words), command.stdin), line, depth=depth + 1)
            self.shadows += [*seen.parts, *seen.shadows]
            self.hides += seen.hides
            self.banned = self.banned or (seen.banned if is_told else "")

    def _look(self, command: Command) -> None:
        name = command.words[0].text.rpartition("/")[2]
        if name == "cd" and command.words[-1].text != self.inside:
            self.moves.append(command.words[-1].text)
        if shown := shown_by(command.words):
            self.shows.append(shown)
        self.uses_git |= name == "git"
        if not is_safe(command.words, self.inside):
            self.doubts.append(f"it runs {name}")

    def _reads(self, line: Line) -> None:
        self.shows.append(Shown(tuple(word.text for word in line.reads)))
        self.doubts += [f"it reads {word.text}" for word in line.reads if not stays_inside(word, self.inside)]

    def _ban_roughly(self, text: str) -> None:
        """In a text that cannot be read, whatever stands where a command may stand counts."""
        for word in _rough_commands(text):
            if word in self.bans.commands:
                self.banned = self.banned or word


def _rough_commands(text: str) -> Iterator[str]:
    """The first word of whatever looks like a command, and behind a word that runs others, every word."""
    spelled = ANSI_QUOTED.sub(lambda match: ansi_quoted(match[1]).text, text)
    plain = re.sub(r"\\\n|[\\'\"]", "", spelled)
    for chunk in re.split(r"[;&|\n(){}`<>!,]|\$\(|\b(?:then|do|else|-c)\b", plain):
        words = [word.rpartition("/")[2].lower() for word in chunk.split()]
        while words and (words[0] in RESERVED or re.match(r"-|\w+=|\d+$", words[0])):
            words.pop(0)
        yield from words if words and words[0] in RUNNERS else words[:1]
