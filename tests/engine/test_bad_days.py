"""Killed processes, cut power, full and failing disks, strangers and second servers: nothing acknowledged is lost."""

import logging
import re
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import apsw
import pytest
from anyio import fail_after
from anyio.to_thread import run_sync

from tests.engine.survival import endings, survived
from tests.store.faulty import FaultyDisk, faulty_disk
from tests.store.test_damage import FRAME_BYTES, WAL_HEADER_BYTES
from tests.store.test_faults import FAULTS, impatient
from tests.store.test_ownership import forgets
from turnkeeper.engine import submitting
from turnkeeper.models.scripted import CallTool, Hold, Say, Think, Turn, turn
from turnkeeper.protocol.events import RunAccepted
from turnkeeper.protocol.ids import START, RunId
from turnkeeper.protocol.problems import StoreElsewhere, StoreUnavailable
from turnkeeper.protocol.runs import Outcome
from turnkeeper.store.database import connect
from turnkeeper.store.sqlite import DATABASE, SqliteStore, open_store
from turnkeeper.store.store import Store
from turnkeeper.testing.scene import QUICK, PlainTool, Stage, scene
from turnkeeper.tools.tool import Call, Hands

ROOT = Path(__file__).parents[2]
KILLS = 200
CUTS = 40
FAULTS_EVERY = 11
OPERATIONS_MAX = 400
PATIENT = replace(QUICK, store_seconds=30.0)
MORE = (turn(Say("x" * 3000, characters=30)), turn(Say("half"), Hold("here")))
ANSWER = (turn(Think("hm"), Say("I look"), CallTool("c1", "look", {})), turn(Say("seen")))


async def look(call: Call, hands: Hands) -> str:
    await hands.begin("everything")
    return "seen"


TOOLS = [PlainTool("look", look)]


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.timeout(300)
def test_a_server_that_is_killed_at_any_instant_loses_nothing_it_acknowledged() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.engine.killing", "--kills", str(KILLS)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    said = re.match(r"(\d+) kills, (\d+) starts examined, (\d+) prompts acknowledged, none lost", done.stdout)
    assert said
    kills, examined, acknowledged = map(int, said.groups())
    assert kills == KILLS
    assert examined > KILLS / 2
    assert acknowledged > 0


@pytest.mark.slow
async def test_whatever_of_the_written_frames_survives_a_power_cut_is_recovered_from(tmp_path: Path) -> None:
    async with a_morning(tmp_path / "data") as stage:
        assert isinstance(stage.store, SqliteStore)
        database, wal = stage.store.path.read_bytes(), wal_of(stage.store.path).read_bytes()
    boundaries = list(range(WAL_HEADER_BYTES, len(wal) + 1, FRAME_BYTES))
    heads: set[int] = set()
    with fail_after(50):
        for boundary in boundaries[:: max(1, len(boundaries) // CUTS)] + boundaries[-1:]:
            directory = tmp_path / f"cut-{boundary}"
            left(directory, database, wal[: boundary + FRAME_BYTES // 2])
            async with open_store(directory) as store:
                heads.add(await store.head())
                acknowledged = await accepted(store)
                async with scene(*[turn(Say("after"))] * 6, store=store, tools=TOOLS, id="again") as again:
                    await survived(again.workspace, acknowledged)
    assert len(heads) > CUTS / 4


@asynccontextmanager
async def a_morning(directory: Path) -> AsyncGenerator[Stage]:
    """Some prompts accepted, answered, waiting and cancelled, and one in the middle of its answer."""
    with fail_after(20):
        async with (
            open_store(directory) as store,
            scene(
                *ANSWER, turn(Say("x" * 3000, characters=30)), turn(Say("half"), Hold("here")), store=store, tools=TOOLS
            ) as stage,
        ):
            session = await stage.session("A morning")
            await stage.run("first", session, run_id="r0")
            await stage.run("second", session, run_id="r1")
            for number in (2, 3, 4):
                await stage.submit(f"prompt {number}", session, f"r{number}")
            await stage.model.reached("here")
            await submitting.cancel_run(stage.workspace, RunId("r4"))
            yield stage


async def accepted(store: Store) -> dict[RunId, str]:
    events = [entry.event for entry in await store.read(START, limit=10_000)]
    return {event.run_id: event.prompt.text for event in events if isinstance(event, RunAccepted)}


def wal_of(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def left(directory: Path, database: bytes, wal: bytes) -> None:
    """What a power cut leaves on the disk."""
    directory.mkdir()
    (directory / DATABASE).write_bytes(database)
    wal_of(directory / DATABASE).write_bytes(wal)


class RememberingDisk(apsw.VFS):
    """Knows how much of the write-ahead log has been brought to the disk for certain."""

    def __init__(self) -> None:
        super().__init__("remembering", "unix")
        self.synced_bytes = 0

    def xOpen(self, name: Any, flags: Any) -> "RememberingFile":
        return RememberingFile(self, name, flags)


class RememberingFile(apsw.VFSFile):
    def __init__(self, disk: RememberingDisk, name: Any, flags: Any) -> None:
        super().__init__("unix", name, flags)
        self._disk = disk
        self._is_wal = str(name.filename() if hasattr(name, "filename") else name).endswith("-wal")
        self._end = 0

    def xWrite(self, data: Any, offset: int) -> None:
        super().xWrite(data, offset)  # pyright: ignore[reportUnknownMemberType] apsw says no more
        self._end = max(self._end, offset + len(data))

    def xSync(self, flags: int) -> None:
        super().xSync(flags)
        if self._is_wal:
            self._disk.synced_bytes = self._end


async def test_what_is_acknowledged_is_on_disk_and_not_only_on_its_way(tmp_path: Path) -> None:
    disk = RememberingDisk()
    apsw.set_default_vfs("remembering")
    try:
        with fail_after(20):
            async with (
                open_store(tmp_path / "data") as store,
                scene(turn(Hold("here")), store=store) as stage,
            ):
                session = await stage.session()
                for number in range(8):
                    await stage.submit(f"prompt {number}", session, f"r{number}")
                    wal = wal_of(store.path).read_bytes()[: disk.synced_bytes]
                    left(tmp_path / f"cut-{number}", store.path.read_bytes(), wal)
    finally:
        apsw.set_default_vfs("unix")
        disk.unregister()
    for number in range(8):
        async with open_store(tmp_path / f"cut-{number}") as cut:
            assert [run.id for run in await cut.runs()] == [f"r{n}" for n in range(number, -1, -1)]


@pytest.fixture
def disk() -> Generator[FaultyDisk]:
    # Each failure is logged as it should be, which is nobody's business here.
    logging.disable(logging.ERROR)
    with faulty_disk() as disk:
        yield disk
    logging.disable(logging.NOTSET)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(("failure", "operation"), [*FAULTS, (apsw.ReadOnlyError, "write")])
async def test_a_disk_that_fails_at_any_moment_of_a_run_refuses_clearly_or_is_waited_for(
    tmp_path: Path, disk: FaultyDisk, failure: type[apsw.Error], operation: str
) -> None:
    acknowledged: dict[RunId, str] = {}
    refused: list[str] = []
    with fail_after(55):
        async with open_store(tmp_path / "data") as store:
            for number in range(1, OPERATIONS_MAX, FAULTS_EVERY):
                name = RunId(f"r{number}")
                async with scene(
                    *ANSWER, turn(Say("again")), store=store, tools=TOOLS, knobs=PATIENT, id=name
                ) as stage:
                    session = await stage.session(name)
                    disk.fail_at(number, failure, operation)
                    try:
                        await stage.submit("hi", session, name)
                        acknowledged[name] = "hi"
                        await met_or_ended(stage, disk, name)
                    except StoreUnavailable as problem:
                        refused.append(problem.message)
                    reached = disk.mend()
                    await stage.run("after the fault", session, run_id=f"{name}-after")
                    entries = await survived(stage.workspace, acknowledged)
                assert {endings(entries)[run_id] for run_id in acknowledged} <= {Outcome.COMPLETED}
                assert (name in endings(entries)) == (name in acknowledged)
                if not reached:
                    break
            else:
                pytest.fail("every run met a failure")
    assert refused
    assert all("nothing was accepted" in said for said in refused)


async def met_or_ended(stage: Stage, disk: FaultyDisk, run_id: RunId) -> None:
    """Until the fault has been met, or the run did not come so far."""
    async with anyio.create_task_group() as either:

        async def ended() -> None:
            await stage.workspace.ended(run_id)
            either.cancel_scope.cancel()

        async def met() -> None:
            await run_sync(disk.met.wait, abandon_on_cancel=True)
            either.cancel_scope.cancel()

        either.start_soon(ended)
        either.start_soon(met)


async def test_a_stranger_who_holds_the_database_is_named_and_a_run_waits_until_it_lets_go(tmp_path: Path) -> None:
    with fail_after(30):
        async with (
            open_store(tmp_path) as store,
            scene(
                turn(Say("half of "), Hold("here"), Say("it")), turn(Say("later")), store=store, knobs=PATIENT
            ) as stage,
        ):
            session = await stage.session()
            first = await stage.submit("hi", session)
            await stage.model.reached("here")
            await store.writer.write(impatient)
            stranger = connect(store.path)
            stranger.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreUnavailable, match="another program keeps the workspace's database locked"):
                await stage.submit("while it is locked", session, "r1")
            assert [message.text for message in await stage.messages(session)] == ["hi", "half of "]
            stage.model.release("here")
            stranger.execute("ROLLBACK")
            stranger.close()
            run = await stage.workspace.ended(first)
            assert (run.outcome, run.text) == (Outcome.COMPLETED, "half of it")
            assert await store.run(RunId("r1")) is None
            assert (await stage.run("afterwards", session, run_id="r1")).text == "later"


FIRST_SERVER = """
import sys, anyio
from pathlib import Path
from anyio.to_thread import run_sync
from turnkeeper.models.scripted import Hold, Say, turn
from turnkeeper.protocol.ids import RunId, SessionId
from turnkeeper.store.sqlite import open_store
from turnkeeper.testing.scene import scene

TURN = turn(Say("from the first"), Hold("here"), Say(", too late"))

async def serve():
    async with open_store(Path(sys.argv[1]), address="unix:/run/first") as store:
        async with scene(TURN, store=store, id="first") as stage:
            session = await stage.session("shared")
            await stage.submit("one", session, "r1")
            await stage.submit("two", session, "r2")
            await stage.model.reached("here")
            while not await store.pieces(session):
                await anyio.sleep(0.01)
            print(session, flush=True)
            await run_sync(sys.stdin.readline)
            stage.model.release("here")
            while stage.workspace.is_busy(session):
                await anyio.sleep(0.01)
            print([run.outcome for run in await store.runs(session)], flush=True)

anyio.run(serve)
"""


@contextmanager
def first_server(directory: Path) -> Generator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", FIRST_SERVER, str(directory)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.e2e
async def test_of_two_servers_one_serves_and_one_that_slept_through_its_replacement_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns: list[Turn] = [turn(Say("from the second"))] * 2
    with first_server(tmp_path) as first, fail_after(40):
        assert first.stdout
        assert first.stdin
        await run_sync(first.stdout.readline)
        with pytest.raises(StoreElsewhere, match=f"process {first.pid} at unix:/run/first"):
            await SqliteStore.open(tmp_path)
        # It sleeps, and the file system forgets its lock: the position alone tells who is late.
        first.send_signal(signal.SIGSTOP)
        monkeypatch.setattr("turnkeeper.store.lock.fcntl.flock", forgets)
        async with (
            open_store(tmp_path) as store,
            scene(*turns, store=store, id="second") as stage,
        ):
            before = await survived(stage.workspace, {RunId("r1"): "one", RunId("r2"): "two"})
            first.send_signal(signal.SIGCONT)
            first.stdin.write("wake up\n")
            first.stdin.flush()
            said = await run_sync(first.stdout.readline)
            session = (await store.sessions())[0].id
            conversation = [message.text for message in await stage.messages(session)]
            assert await survived(stage.workspace, {}) == before
    assert said == "[<Outcome.COMPLETED: 'completed'>, <Outcome.INTERRUPTED: 'interrupted'>]\n"
    assert conversation == ["one", "from the first", "two", "from the second"]
