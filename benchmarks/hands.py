"""What the hands cost beside the bare thing: searching beside ripgrep, viewing beside nothing, editing beside writing.

Ratios of one run, taken in turns with what they are measured against; exit 1 when a bound is broken. The edits take the
whole way (permission, staleness, atomic replacement, history on disk) in several sessions at once, and are measured
against as many threads that do nothing but write a file beside the other, sync and rename it.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from statistics import median

import anyio

from turnkeeper.models.scripted import CallTool, Say, turn
from turnkeeper.protocol.ids import SessionId, ToolCallId
from turnkeeper.protocol.runs import Outcome, RunOptions
from turnkeeper.store.sqlite import open_store
from turnkeeper.testing.hands import FakeHands
from turnkeeper.testing.scene import PlainTool, Stage, scene
from turnkeeper.tools.edit import edit_tool
from turnkeeper.tools.glob import glob_tool
from turnkeeper.tools.grep import grep_tool
from turnkeeper.tools.searching import Ripgrep, searcher
from turnkeeper.tools.tool import Call, Hands, Tool
from turnkeeper.tools.view import view_tool
from turnkeeper.tools.write import write_tool

SEARCH_MAX = 1.5
EDITS_MAX = 6.0
VIEW_KIBIBYTES_MAX = 16 * 1024
FILES = 100_000
FOLDERS = 1_000
ROUNDS = 7
SESSIONS = 8
EDITS = 100
"""Of each session, in each round."""
TEXT = "a line like any other\n" * 20
GIBIBYTE = 1024**3


def plant(root: Path) -> None:
    """A hundred thousand small files in a thousand folders; every hundredth holds what is looked for."""
    for folder in range(FOLDERS):
        here = root / f"package{folder // 50}" / f"module{folder % 50}"
        here.mkdir(parents=True)
        for number in range(FILES // FOLDERS):
            needle = "needle\n" if number == folder % 100 else ""
            (here / f"file{number}.{'py' if number % 2 else 'txt'}").write_text(f"{TEXT[:200]}\n{needle}")


async def used(tool: Tool, hands: Hands, **given: object) -> None:
    answer = await tool.use(Call(ToolCallId("c"), tool.name, given), hands)
    assert not answer.is_error, answer.content


async def beside(ours: Callable[[], Awaitable[None]], theirs: Callable[[], Awaitable[None]]) -> tuple[float, float]:
    """Our processor time over theirs, that of the programs included: the median of the rounds, after one to warm up.

    Both wait for the same disk and the same processors, and how long for is not theirs to say. What the clock says is
    told beside it, of the quickest of the rounds: on a quiet machine that is what a person waits for.
    """
    ratios: list[float] = []
    waits: list[tuple[float, float]] = []
    for _ in range(ROUNDS + 1):
        times: list[float] = []
        waited: list[float] = []
        for work in (ours, theirs):
            begin, began = processor_seconds(), time.perf_counter()
            await work()
            times.append(processor_seconds() - begin)
            waited.append(time.perf_counter() - began)
        ratios.append(times[0] / times[1])
        waits.append((waited[0], waited[1]))
    return median(ratios[1:]), min(our for our, _ in waits[1:]) / min(their for _, their in waits[1:])


def processor_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


async def searching(root: Path, tool: Tool, *bare: str, **given: object) -> tuple[float, float]:
    """A search of ours beside the program's own, its output read and thrown away."""
    found = searcher()
    assert isinstance(found, Ripgrep), "this is a comparison with ripgrep, which is not here"
    hands = FakeHands(root)

    async def theirs() -> None:
        await anyio.run_process([found.program, "--no-config", *bare], cwd=root, stdin=subprocess.DEVNULL, check=False)

    return await beside(lambda: used(tool, hands, **given), theirs)


async def viewing(root: Path) -> int:
    """By how many kibibytes a look at the end of a file of one gibibyte lets the process grow."""
    path = root / "huge.txt"
    line = b"x" * 63 + b"\n"
    with path.open("wb") as file:
        for _ in range(GIBIBYTE // (1 << 20)):
            file.write(line * ((1 << 20) // len(line)))
    hands, tool = FakeHands(root), view_tool()
    await used(tool, hands, file_path="huge.txt", offset=10, limit=10)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    await used(tool, hands, file_path="huge.txt", offset=GIBIBYTE // len(line) - 100, limit=50)
    path.unlink()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before


async def editing(root: Path) -> tuple[float, float, float]:
    """How much longer our edits take than bare atomic writes, how many there are a second by the clock, and how many
    a second of processor time would do."""
    work = root / "edited"
    work.mkdir()
    best_ours = best_bare = best_work = float("inf")
    scripts = [*[turn(CallTool("edits", "edits", {}))] * SESSIONS, *[turn(Say("done"))] * SESSIONS] * ROUNDS
    # One workspace for all rounds, as a server has it: its log has grown to its size, and one listener hears of it.
    async with (
        open_store(root / "data") as store,
        scene(*scripts, store=store, tools=[many_edits()], path=work) as stage,
    ):
        for _ in range(ROUNDS):
            best_bare = min(best_bare, bare_writes(work))
            sessions = [await stage.session() for _ in range(SESSIONS)]
            begin, began = time.perf_counter(), processor_seconds()
            async with anyio.create_task_group() as runs:
                for session in sessions:
                    runs.start_soon(one_run, stage, session)
            best_ours = min(best_ours, time.perf_counter() - begin)
            best_work = min(best_work, processor_seconds() - began)
    edits = SESSIONS * EDITS
    return best_ours / best_bare, edits / best_ours, edits / best_work


async def one_run(stage: Stage, session: SessionId) -> None:
    ended = await stage.run("go", session, options=RunOptions(allow=("edit", "write")))
    assert ended.outcome is Outcome.COMPLETED, ended.failure


def many_edits() -> Tool:
    """A tool that edits a file of its session, again and again, by the hands it was lent."""
    edit, write = edit_tool(), write_tool()

    async def go(_: Call, hands: Hands) -> str:
        name = f"{hands.session_id}.txt"
        await used(write, hands, file_path=name, content=f"{TEXT}at 0\n")
        for number in range(EDITS):
            await used(edit, hands, file_path=name, old_string=f"at {number}\n", new_string=f"at {number + 1}\n")
        return "done"

    return PlainTool("edits", go)


def bare_writes(folder: Path) -> float:
    begin = time.perf_counter()
    with ThreadPoolExecutor(SESSIONS) as writers:
        list(writers.map(partial(write_again_and_again, folder), range(SESSIONS)))
    return time.perf_counter() - begin


def write_again_and_again(folder: Path, which: int) -> None:
    for number in range(EDITS):
        part = folder / f".{which}.part"
        with part.open("wb") as file:
            file.write(f"{TEXT}at {number}\n".encode())
            file.flush()
            os.fsync(file.fileno())
        part.replace(folder / f"bare{which}.txt")
        descriptor = os.open(folder, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)


async def measure() -> bool:
    kept: list[bool] = []

    def report(what: str, value: float, bound: float) -> None:
        kept.append(value <= bound)
        print(f"{'ok  ' if kept[-1] else 'BAD '} {value:8.2f}  (≤ {bound})  {what}", flush=True)

    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        (root / "tree").mkdir()
        plant(root / "tree")
        glob, grep = glob_tool(searcher()), grep_tool(searcher())
        ratio, clock = await searching(root / "tree", glob, "--files", "--glob", "**/*.py", pattern="**/*.py")
        report(f"glob for half of 100,000 files beside ripgrep (by the clock {clock:.2f})", ratio, SEARCH_MAX)
        ratio, clock = await searching(root / "tree", grep, "-n", "needle", pattern="needle")
        report(f"grep for 1,000 of 100,000 files beside ripgrep (by the clock {clock:.2f})", ratio, SEARCH_MAX)
        report("kibibytes more for 50 lines at the end of 1 GiB", await viewing(root), VIEW_KIBIBYTES_MAX)
        ratio, rate, worth = await editing(root)
        told = f"{rate:.0f} a second by the clock, {worth:.0f} by processor time"
        report(f"an edit with its history beside an atomic write ({told})", ratio, EDITS_MAX)
    return all(kept)


if __name__ == "__main__":
    # On the event loop that the server runs on.
    sys.exit(0 if anyio.run(measure, backend_options={"use_uvloop": True}) else 1)
