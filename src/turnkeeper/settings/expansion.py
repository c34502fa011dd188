"""Values with `$` in them, read as a shell reads them: `$NAME`, `${NAME:-else}`, `${NAME:?why}`, `$(command)`.

A template stays in the configuration and is resolved when it is used, in the environment of whoever asked for the work;
our own environment is neither read nor changed. What is not set is empty. Nothing is split into words, and no file name
is looked for. A text without `$` is itself, quotes and all. Messages name the template and never what it became.
"""

import os
import re
import shutil
import signal
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from subprocess import DEVNULL

import anyio
from anyio.abc import ByteReceiveStream, Process

from turnkeeper.protocol.problems import Problem

COMMAND_SECONDS = 300
Hears = Callable[[bytes], None]
OUTPUT_BYTES_MAX = 64 * 1024
COMPLAINT_BYTES_MAX = 512
SECRET_LETTERS_MIN = 6

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OPERATOR = re.compile(r":?[-+?]")

Work = Generator[str, str, str]
"""Asks for commands to be run, is sent their output, and returns a text."""


class ExpansionFailed(Problem):
    """A value of the configuration could not be worked out."""

    def __init__(self, template: str, why: str) -> None:
        super().__init__(f"cannot expand {template!r}: {why}")
        self.template = template


class CommandWanted(ExpansionFailed):
    """The value needs a command to be run, which is done only when it is used."""

    def __init__(self, template: str) -> None:
        super().__init__(template, "it needs a command to be run")


async def expand(template: str, *, env: Mapping[str, str], workdir: Path, hears: Hears | None = None) -> str:
    """The value of a template; its commands are run in `workdir`, each for at most `COMMAND_SECONDS`.

    `hears` is told what a command has said so far, whenever it says more.
    """
    work = _Expansion(template, env).whole()
    try:
        command = next(work)
        while True:
            command = work.send(await _output(template, command, env=env, workdir=workdir, hears=hears or _deaf))
    except StopIteration as done:
        return str(done.value)


def expand_without_commands(template: str, env: Mapping[str, str]) -> str:
    """The value of a template that needs no command; raises `CommandWanted` for one that does."""
    work = _Expansion(template, env).whole()
    try:
        next(work)
    except StopIteration as done:
        return str(done.value)
    raise CommandWanted(template)


def has_command(template: str) -> bool:
    """Whether something might be run. A template that cannot be read counts: it is not known to be harmless."""
    expansion = _Expansion(template, _Everything())
    try:
        _spent(expansion.whole())
    except ExpansionFailed:
        return True
    return bool(expansion.commands)


def _spent(work: Work) -> None:
    """Read to the end, with nothing run and nothing wanted."""
    try:
        next(work)
        while True:
            work.send("")
    except StopIteration:
        pass


class _Everything(dict[str, str]):
    """An environment in which every name is set, so that every part of a template is looked at."""

    def get(self, key: str, default: str | None = None) -> str:  # type: ignore[override]
        return "x"


class _Expansion:
    """One reading of one template from left to right; owns the place it has come to."""

    def __init__(self, template: str, env: Mapping[str, str]) -> None:
        self.commands: list[str] = []
        self._template = template
        self._env = env
        self._at = 0

    def whole(self) -> Work:
        if "$" not in self._template:
            return self._template
        return (yield from self._text(until=""))

    def _text(self, *, until: str, quoted: bool = False) -> Work:
        """Everything up to `until`, which is stepped over."""
        result = ""
        while self._at < len(self._template):
            letter = self._template[self._at]
            if letter == until:
                self._at += 1
                return result
            self._at += 1
            match letter:
                case "\\":
                    result += self._escaped(quoted)
                case "'" if not quoted:
                    result += self._up_to("'")
                case '"' if not quoted:
                    result += yield from self._text(until='"', quoted=True)
                case "`":
                    result += yield self._noted(self._up_to("`"))
                case "$":
                    result += yield from self._dollar()
                case _:
                    result += letter
        if until:
            raise self._failed(f"{until} is missing")
        return result

    def _escaped(self, quoted: bool) -> str:
        letter = self._take()
        return letter if not quoted or letter in '$`"\\' else f"\\{letter}"

    def _dollar(self) -> Work:
        if found := _NAME.match(self._template, self._at):
            self._at = found.end()
            return self._env.get(found.group(), "")
        match self._take():
            case "{":
                return (yield from self._parameter())
            case "(":
                return (yield self._noted(self._command()))
            case _:
                raise self._failed("a lone $ means nothing; write \\$ for the sign itself")

    def _parameter(self) -> Work:
        found = _NAME.match(self._template, self._at)
        if found is None:
            raise self._failed("a name was expected after ${")
        self._at = found.end()
        value = self._env.get(found.group())
        if self._template.startswith("}", self._at):
            self._at += 1
            return value or ""
        operator = _OPERATOR.match(self._template, self._at)
        if operator is None:
            raise self._failed("of what can follow a name, only :- :+ :? - + ? are understood, or } is missing")
        self._at = operator.end()
        return (yield from self._choice(found.group(), value, operator.group()))

    def _choice(self, name: str, value: str | None, operator: str) -> Work:
        """The word is worked out only when it is used, so that no command runs for nothing."""
        there = value is not None and (value != "" or not operator.startswith(":"))
        if there == operator.endswith("+"):
            word = yield from self._text(until="}")
            if operator.endswith("?"):
                raise self._failed(f"{name}: {word or 'is not set'}")
            return word
        self._skipped_word()
        return "" if operator.endswith("+") else value or ""

    def _skipped_word(self) -> None:
        env, self._env = self._env, _Everything()
        _spent(self._text(until="}"))
        self._env = env

    def _noted(self, command: str) -> str:
        self.commands.append(command)
        return command

    def _command(self) -> str:
        if self._template.startswith("(", self._at):
            raise self._failed("arithmetic is not understood")
        begin, depth = self._at, 1
        while depth:
            match self._take():
                case "(":
                    depth += 1
                case ")":
                    depth -= 1
                case "\\":
                    self._take()
                case "'":
                    self._up_to("'")
                case '"':
                    self._over_quoted()
                case _:
                    pass
        return self._template[begin : self._at - 1]

    def _over_quoted(self) -> None:
        while (letter := self._take()) != '"':
            if letter == "\\":
                self._take()

    def _up_to(self, closing: str) -> str:
        end = self._template.find(closing, self._at)
        if end < 0:
            raise self._failed(f"{closing} is missing")
        text, self._at = self._template[self._at : end], end + 1
        return text

    def _take(self) -> str:
        if self._at >= len(self._template):
            raise self._failed("it ends too early; a lone $ is written \\$")
        self._at += 1
        return self._template[self._at - 1]

    def _failed(self, why: str) -> ExpansionFailed:
        return ExpansionFailed(self._template, why)


async def _output(template: str, command: str, *, env: Mapping[str, str], workdir: Path, hears: Hears) -> str:
    shell = shutil.which("bash", path=env.get("PATH")) or "/bin/sh"
    try:
        process = await anyio.open_process(
            [shell, "-c", command], stdin=DEVNULL, cwd=workdir, env=env, start_new_session=True
        )
    except OSError as error:
        raise ExpansionFailed(template, f"its command cannot be started: {error.strerror}") from error
    try:
        with anyio.fail_after(COMMAND_SECONDS):
            status, output, complaint = await _said(process, hears)
    except TimeoutError as error:
        raise ExpansionFailed(template, f"its command did not end within {COMMAND_SECONDS} seconds") from error
    finally:
        await _ended(process)
    if status:
        why = scrubbed(complaint.decode("utf-8", "replace"), env)
        raise ExpansionFailed(template, f"its command ended with {status}" + (f": {why}" if why else ""))
    if len(output) >= OUTPUT_BYTES_MAX:
        raise ExpansionFailed(template, f"its command said more than {OUTPUT_BYTES_MAX} bytes")
    return output.decode("utf-8", "replace").rstrip("\n")


async def _said(process: Process, hears: Hears) -> tuple[int, bytes, bytes]:
    output, complaint = bytearray(), bytearray()
    async with anyio.create_task_group() as group:
        group.start_soon(_gather, process.stdout, output, hears)
        group.start_soon(_gather, process.stderr, complaint, hears)
        await process.wait()
    return process.returncode or 0, bytes(output), bytes(complaint)


async def _gather(stream: ByteReceiveStream | None, into: bytearray, hears: Hears) -> None:
    """Everything is read, so that nobody waits for us; what is too much is not kept."""
    assert stream is not None
    async for piece in stream:
        into += piece[: max(0, OUTPUT_BYTES_MAX - len(into))]
        hears(bytes(into))


def _deaf(_: bytes) -> None:
    """Nobody wants to know before the end."""


async def _ended(process: Process) -> None:
    """The command and what it started are gone when this returns."""
    with anyio.CancelScope(shield=True):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        await process.wait()
        await process.aclose()


def scrubbed(complaint: str, env: Mapping[str, str]) -> str:
    """What a command complained of, on one short line, without the values of variables that sound like secrets."""
    for name, value in env.items():
        if len(value) >= SECRET_LETTERS_MIN and re.search(r"KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH", name.upper()):
            complaint = complaint.replace(value, "…")
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in complaint).split())
    return line.encode()[:COMPLAINT_BYTES_MAX].decode("utf-8", "ignore")
