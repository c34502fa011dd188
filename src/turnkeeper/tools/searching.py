"""Looking for files and text: the port, and its two implementations, ripgrep and a plain one.

Both answer the same, whichever is there. What they start dies with the block that started it: a timeout, a cancel
and a reader who has enough all end the process.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import anyio
import msgspec
from anyio.abc import ByteReceiveStream

from turnkeeper.tools.globs import expanded
from turnkeeper.tools.ignoring import ALWAYS_SKIPPED, OWN_IGNORE_FILES, Ignoring, ignored_everywhere
from turnkeeper.tools.making import Refusal
from turnkeeper.tools.plain_search import (
    LINE_BYTES_MAX,
    PlainLine,
    PlainRequest,
    included,
    letters_before,
    spelled,
    unspelled,
)

OUTPUT_BYTES_MAX = 64 * 1024 * 1024
ERROR_BYTES_MAX = 4096
NOTHING_FOUND = 1
MESSAGE_BYTES_MAX = 4 * 1024 * 1024
"""How long a line may be, as ripgrep writes it, to be shown at all."""
TOO_LONG = "(a line too long to be shown)"
Heard = Callable[[bytes], None]
IGNORING_VARIABLES = ("HOME", "XDG_CONFIG_HOME", "TURNKEEPER_CONFIG_DIR")
"""All that the plain search needs of an environment, which may hold keys."""


@dataclass(frozen=True)
class Scope:
    """Where to look: a folder or one file, whether among hidden names, and which names to leave out."""

    root: Path
    hidden: bool = False
    skipped: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])


class Searcher(Protocol):
    async def files(self, scope: Scope, *, name: str = "") -> list[str]:
        """Every file, relative to the root; `name` may narrow them to a glob of the last part, but need not."""
        ...

    async def matching(self, scope: Scope, pattern: str, *, include: str = "") -> list[str]:
        """The files with a line that matches the regular expression."""
        ...

    async def lines(self, files: Sequence[str], pattern: str, *, context: int, lines_max: int) -> list[PlainLine]:
        """The matching lines of these files, file after file, at most `lines_max` matches of each."""
        ...


def searcher() -> Searcher:
    """ripgrep where it can be found, in the path or beside this Python; else the plain one."""
    beside = Path(sys.executable).parent / "rg"
    found = shutil.which("rg") or (str(beside) if os.access(beside, os.X_OK) else "")
    return Ripgrep(found) if found else PlainSearch()


@dataclass(frozen=True)
class Ripgrep:
    program: str

    async def files(self, scope: Scope, *, name: str = "") -> list[str]:
        return names(await run([self.program, "--files", *self._flags(scope), *only(name), "--null"], cwd=scope.root))

    async def matching(self, scope: Scope, pattern: str, *, include: str = "") -> list[str]:
        if scope.root.is_file():
            command = [self.program, *COMMON_FLAGS, "-l", "--null", "-e", pattern, "--", str(scope.root)]
            return paths(await run(command, cwd=scope.root.parent), scope.root.parent)
        narrowed = only(include.rpartition("/")[2])
        command = [self.program, *self._flags(scope), *narrowed, "-l", "--null", "-e", pattern, "--", "."]
        found = paths(await run(command, cwd=scope.root), scope.root)
        wanted = included(include)
        start = len(str(scope.root).rstrip("/")) + 1
        return found if wanted is None else [path for path in found if wanted.fullmatch(path[start:])]

    async def lines(self, files: Sequence[str], pattern: str, *, context: int, lines_max: int) -> list[PlainLine]:
        if not files:
            return []
        limits = ["--max-count", str(lines_max)] if lines_max else []
        around = ["--context", str(context)] if context else []
        # One thread keeps the order of the files as they were named.
        command = [self.program, *COMMON_FLAGS, "--json", "--threads", "1", *limits, *around, "-e", pattern, "--"]
        messages = Messages()
        await run([*command, *files], cwd=Path("/"), heard=messages.hear)
        return messages.lines

    def _flags(self, scope: Scope) -> list[str]:
        names = dict.fromkeys((*scope.skipped, *sorted(ALWAYS_SKIPPED)))
        left_out = [flag for name in names for flag in ("--glob", f"!{name}")]
        own = (*ignored_everywhere(scope.env), *(scope.root / name for name in OWN_IGNORE_FILES))
        ignore = [flag for path in own if path.is_file() for flag in ("--ignore-file", str(path))]
        # Within a repository ripgrep reads ignore files up to its root; elsewhere they count without one.
        anywhere = [] if in_repository(scope.root) else ["--no-require-git"]
        # Whoever looks into an ignored folder means it, and the rule that leaves it out does not count below.
        if not Ignoring(common=False, env=scope.env).above(scope.root):
            anywhere.append("--no-ignore-parent")
        return [*COMMON_FLAGS, *anywhere, *(["--hidden"] if scope.hidden else []), *ignore, *left_out]


COMMON_FLAGS = ["--no-config", "--no-messages", "--color", "never"]


def in_repository(folder: Path) -> bool:
    return any((one / ".git").exists() for one in (folder, *folder.parents))


def only(name: str) -> list[str]:
    """Flags that narrow a search to files of this name, where ripgrep's types can take the glob.

    A type and not `--glob`: what a glob names is found even if an ignore file leaves it out.
    """
    names = expanded(name)
    if not name or "/" in name or any(set(one) & set(":{}\\") or "**" in one or not one for one in names):
        return []
    return [*(flag for one in names for flag in ("--type-add", f"wanted:{one}")), "--type", "wanted"]


def names(output: bytes) -> list[str]:
    """What was found, as it was written: a hundred thousand of them in one step, since no name holds a NUL."""
    return os.fsdecode(output).split("\0")[:-1]


def paths(output: bytes, root: Path) -> list[str]:
    """What was found, as absolute paths."""
    base = str(root).rstrip("/")
    return [name if name.startswith("/") else f"{base}/{name.removeprefix('./')}" for name in names(output)]


class Messages:
    """ripgrep's messages, read as they come: of a line only its beginning is kept, however long it is, and those of a
    file that turned out binary are dropped."""

    def __init__(self) -> None:
        self.lines: list[PlainLine] = []
        self._of_file: list[PlainLine] = []
        self._path = ""
        self._rest = b""
        self._passes_over = False

    def hear(self, chunk: bytes) -> None:
        *whole, self._rest = (self._rest + chunk).split(b"\n")
        for raw in whole:
            if self._passes_over:
                self._passes_over = False
            else:
                self._take(raw)
        if len(self._rest) > MESSAGE_BYTES_MAX:
            if not self._passes_over:
                self._of_file.append(PlainLine(self._path, 0, TOO_LONG))
            self._passes_over, self._rest = True, b""

    def _take(self, raw: bytes) -> None:
        message: dict[str, Any] = msgspec.json.decode(raw)
        data: dict[str, Any] = message["data"]
        match message["type"]:
            case "begin":
                self._path = os.fsdecode(bytes_of(data["path"]))
            case "match" | "context":
                self._of_file.append(read_line(data, is_match=message["type"] == "match"))
            case "end":
                self.lines.extend(self._of_file if data.get("binary_offset") is None else ())
                self._of_file = []
            case _:
                pass


def whole_lines(output: bytes) -> list[bytes]:
    """Without a last line that the limit cut through."""
    return output[: output.rfind(b"\n") + 1].split(b"\n")[:-1]


def read_line(data: dict[str, Any], *, is_match: bool) -> PlainLine:
    matches: list[dict[str, Any]] = data["submatches"]
    line = bytes_of(data["lines"])
    column = letters_before(line, int(matches[0]["start"])) if matches else 0
    shown = line[:LINE_BYTES_MAX].decode("utf-8", "replace").removesuffix("\n").removesuffix("\r")
    return PlainLine(os.fsdecode(bytes_of(data["path"])), int(data["line_number"]), shown, column, is_match)


def bytes_of(value: Mapping[str, str]) -> bytes:
    """ripgrep writes what is no UTF-8 as base64."""
    return value["text"].encode() if "text" in value else msgspec.convert(value["bytes"], bytes)


@dataclass(frozen=True)
class PlainSearch:
    """The same in Python, for where there is no ripgrep."""

    async def files(self, scope: Scope, *, name: str = "") -> list[str]:
        return names(await self._run("files", scope))

    async def matching(self, scope: Scope, pattern: str, *, include: str = "") -> list[str]:
        return paths(await self._run("matching", scope, pattern=pattern, include=include), scope.root)

    async def lines(self, files: Sequence[str], pattern: str, *, context: int, lines_max: int) -> list[PlainLine]:
        scope = Scope(Path("/"))
        output = await self._run(
            "lines", scope, pattern=pattern, files=tuple(map(spelled, files)), context=context, lines_max=lines_max
        )
        lines = (msgspec.json.decode(line, type=PlainLine) for line in whole_lines(output))
        return [msgspec.structs.replace(line, path=unspelled(line.path)) for line in lines]

    async def _run(self, mode: str, scope: Scope, **more: Any) -> bytes:
        env = {key: scope.env[key] for key in IGNORING_VARIABLES if key in scope.env}
        request = PlainRequest(
            mode=mode, root=str(scope.root), hidden=scope.hidden, skipped=tuple(scope.skipped), env=env, **more
        )
        command = [sys.executable, "-m", "turnkeeper.tools.plain_search"]
        return await run(command, cwd=Path("/"), given=msgspec.json.encode(request))


async def run(command: Sequence[str], *, cwd: Path, given: bytes = b"", heard: Heard | None = None) -> bytes:
    """A program's output, whole, unless somebody hears it as it comes. Leaving the block ends the program."""
    errors: list[bytes] = []
    output: list[bytes] = []
    heard_any = False
    async with await anyio.open_process(
        list(command),
        cwd=cwd,
        stdin=subprocess.PIPE if given else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        assert process.stdout
        assert process.stderr
        async with anyio.create_task_group() as group:
            group.start_soon(collect, process.stderr, errors, ERROR_BYTES_MAX)
            if process.stdin:
                await process.stdin.send(given)
                await process.stdin.aclose()
            if heard is None:
                await collect(process.stdout, output, OUTPUT_BYTES_MAX)
            else:
                async for chunk in process.stdout:
                    heard(chunk)
                    heard_any = True
        code = await process.wait()
    # A folder that may not be read is passed over without a word; a pattern that is none has a word.
    if code > NOTHING_FOUND and not output and not heard_any and errors:
        raise Refusal(explained(b"".join(errors)))
    return b"".join(output)


async def collect(stream: ByteReceiveStream, into: list[bytes], bytes_max: int) -> None:
    """Everything is read, so that the program can end; what is beyond the limit is dropped."""
    size = 0
    async for chunk in stream:
        if size < bytes_max:
            into.append(chunk[: bytes_max - size])
            size += len(chunk)


def explained(errors: bytes) -> str:
    text = errors.decode("utf-8", "replace").strip()
    last = text.splitlines()[-1] if "Traceback" in text else text
    return f"the search failed: {last or 'no reason was given'}"
