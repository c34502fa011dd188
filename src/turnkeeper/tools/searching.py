"""Looking for files and text: the port, and its two implementations, ripgrep and a plain one.

Both answer the same, whichever is there. What they start dies with the block that started it: a timeout, a cancel
and a reader who has enough all end the process.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import anyio
import msgspec
from anyio.abc import ByteReceiveStream

from turnkeeper.tools.globs import expanded
from turnkeeper.tools.ignoring import ALWAYS_SKIPPED, OWN_IGNORE_FILES, Ignoring, ignored_everywhere
from turnkeeper.tools.making import Refusal
from turnkeeper.tools.plain_search import PlainLine, PlainRequest, included

OUTPUT_BYTES_MAX = 64 * 1024 * 1024
ERROR_BYTES_MAX = 4096
NOTHING_FOUND = 1
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
        return read_json(await run([*command, *files], cwd=Path("/")))

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


def read_json(output: bytes) -> list[PlainLine]:
    """ripgrep's messages as lines; those of a file that turned out binary are dropped."""
    result: list[PlainLine] = []
    of_file: list[PlainLine] = []
    for raw in whole_lines(output):
        message: dict[str, Any] = msgspec.json.decode(raw)
        data: dict[str, Any] = message["data"]
        match message["type"]:
            case "match" | "context":
                of_file.append(read_line(data, is_match=message["type"] == "match"))
            case "end":
                result.extend(of_file if data.get("binary_offset") is None else ())
                of_file = []
            case _:
                pass
    return result


def whole_lines(output: bytes) -> list[bytes]:
    """Without a last line that the limit cut through."""
    return output[: output.rfind(b"\n") + 1].split(b"\n")[:-1]


def read_line(data: dict[str, Any], *, is_match: bool) -> PlainLine:
    matches: list[dict[str, Any]] = data["submatches"]
    column = int(matches[0]["start"]) if matches else 0
    text = said(data["lines"]).removesuffix("\n").removesuffix("\r")
    return PlainLine(said(data["path"]), int(data["line_number"]), text, column, is_match)


def said(value: Mapping[str, str]) -> str:
    """ripgrep writes what is no UTF-8 as base64."""
    if "text" in value:
        return value["text"]
    return os.fsdecode(msgspec.convert(value["bytes"], bytes))


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
            "lines", scope, pattern=pattern, files=tuple(files), context=context, lines_max=lines_max
        )
        return [msgspec.json.decode(line, type=PlainLine) for line in whole_lines(output)]

    async def _run(self, mode: str, scope: Scope, **more: Any) -> bytes:
        env = {key: scope.env[key] for key in IGNORING_VARIABLES if key in scope.env}
        request = PlainRequest(
            mode=mode, root=str(scope.root), hidden=scope.hidden, skipped=tuple(scope.skipped), env=env, **more
        )
        command = [sys.executable, "-m", "turnkeeper.tools.plain_search"]
        return await run(command, cwd=Path("/"), given=msgspec.json.encode(request))


async def run(command: Sequence[str], *, cwd: Path, given: bytes = b"") -> bytes:
    """A program's output, whole. Leaving the block ends the program."""
    errors: list[bytes] = []
    output: list[bytes] = []
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
            await collect(process.stdout, output, OUTPUT_BYTES_MAX)
        code = await process.wait()
    # A folder that may not be read is passed over without a word; a pattern that is none has a word.
    if code > NOTHING_FOUND and not output and errors:
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
