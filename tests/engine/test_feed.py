"""A watcher is a position: whatever its pace and whenever it comes, it is given every entry once, in order."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from anyio import fail_after

from tests.store.test_ownership import forgets
from turnkeeper.engine.feed import follow
from turnkeeper.engine.tail import Tail
from turnkeeper.engine.workspace import Workspace
from turnkeeper.models.scripted import Hold, Say, turn
from turnkeeper.protocol.events import Entry, RunComplete, SessionCreated, SessionRenamed
from turnkeeper.protocol.ids import START, Position, SessionId
from turnkeeper.protocol.messages import Delta
from turnkeeper.store.memory import MemoryStore
from turnkeeper.store.sqlite import open_store
from turnkeeper.store.store import READ_MAX, Snapshot, Store
from turnkeeper.testing.scene import Stage, scene


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Store]:
    if request.param == "memory":
        yield MemoryStore()
        return
    async with open_store(tmp_path / "data") as opened:
        yield opened


class Watcher:
    """Follows a workspace, and keeps what it was given."""

    def __init__(self, workspace: Workspace, after: Position | None = None, *, deltas: bool = True) -> None:
        self.entries: list[Entry] = []
        self.deltas: list[Delta] = []
        self.snapshots: list[Snapshot] = []
        self._feed = follow(workspace, after, deltas=deltas)

    async def __aenter__(self) -> "Watcher":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._feed.aclose()

    async def once(self) -> None:
        entries, deltas, snapshot = await anext(self._feed)
        self.entries += entries
        self.deltas += deltas
        self.snapshots += [snapshot] if snapshot else []

    async def until(self, position: Position) -> None:
        while not self.entries or self.entries[-1].position < position:
            await self.once()

    @property
    def positions(self) -> list[int]:
        return [entry.position for entry in self.entries]


async def rename(stage: Stage, session: SessionId, times: int) -> Position:
    for number in range(times):
        await stage.workspace.note(session, SessionRenamed(f"name {number}"))
    return await stage.store.head()


async def log_of(store: Store) -> list[Entry]:
    entries: list[Entry] = []
    while more := await store.read(entries[-1].position if entries else START):
        entries += more
    return entries


async def test_whoever_comes_late_is_given_the_whole_log_and_then_what_is_new(store: Store) -> None:
    with fail_after(10):
        async with scene(turn(Say("hello")), store=store) as stage, Watcher(stage.workspace, START) as late:
            session = await stage.session()
            await stage.run("hi", session)
            await late.until(await store.head())
            await late.until(await rename(stage, session, 3))
            assert late.entries == await log_of(store)


async def test_whoever_names_no_position_is_given_only_what_is_new(store: Store) -> None:
    with fail_after(5):
        async with scene(store=store) as stage:
            session = await stage.session()
            before = await store.head()
            async with Watcher(stage.workspace) as watcher, anyio.create_task_group() as tasks:
                tasks.start_soon(watcher.until, Position(before + 2))
                await anyio.wait_all_tasks_blocked()
                await rename(stage, session, 2)
            assert watcher.positions == [before + 1, before + 2]


async def test_one_that_was_cut_goes_on_from_any_entry_without_a_gap_or_a_repetition(store: Store) -> None:
    with fail_after(10):
        async with scene(turn(Say("hello")), store=store) as stage:
            await stage.run("hi")
            whole = await log_of(store)
            for cut in range(len(whole)):
                async with Watcher(stage.workspace, Position(cut)) as resumed:
                    await resumed.until(whole[-1].position)
                assert resumed.entries == whole[cut:]


async def test_one_that_fell_behind_what_memory_holds_is_served_from_the_store_and_joins_up(store: Store) -> None:
    with fail_after(20):
        async with scene(store=store) as stage, Watcher(stage.workspace, START) as slow:
            stage.workspace.tail = Tail(stage.workspace.tail.head, entries_max=8)
            session = await stage.session()
            await slow.once()
            await rename(stage, session, READ_MAX + 100)
            assert stage.workspace.tail.start > READ_MAX
            await slow.once()
            await rename(stage, session, 3)
            await slow.until(await store.head())
            assert slow.entries == await log_of(store)


async def test_a_position_older_than_what_is_kept_is_answered_with_everything_as_of_one_position(
    tmp_path: Path,
) -> None:
    with fail_after(10):
        async with open_store(tmp_path) as store:
            async with scene(turn(Say("hello")), store=store) as stage:
                session = await stage.session("one")
                await stage.run("hi", session)
                await store.prune(before=Position(5))
            async with scene(turn(Hold("here")), store=store) as stage, Watcher(stage.workspace, Position(2)) as old:
                run_id = await stage.submit("again", session)
                await stage.model.reached("here")
                await old.once()
                (snapshot,) = old.snapshots
                assert old.entries == []
                assert snapshot == await store.snapshot()
                assert [run.id for run in snapshot.runs] == [run_id]
                await old.until(await rename(stage, session, 2))
                assert old.positions[0] == snapshot.position + 1
                assert len(old.snapshots) == 1


async def test_a_position_of_another_log_is_answered_with_a_snapshot_too(store: Store) -> None:
    with fail_after(5):
        async with scene(store=store) as stage, Watcher(stage.workspace, Position(10_000)) as stranger:
            session = await stage.session()
            await stranger.once()
            assert [snapshot.position for snapshot in stranger.snapshots] == [await store.head()]
            await stranger.until(await rename(stage, session, 1))
            assert len(stranger.entries) == 1


class Forgetful(MemoryStore):
    """A store whose log is trimmed right before it is read: the worst moment there is."""

    def __init__(self) -> None:
        super().__init__()
        self.trim_at: Position | None = None

    async def read(self, after: Position, *, limit: int = READ_MAX) -> list[Entry]:
        if self.trim_at is not None:
            before, self.trim_at = self.trim_at, None
            await self.prune(before=before)
        return await super().read(after, limit=limit)


async def test_what_is_forgotten_between_the_question_and_the_answer_is_not_passed_over_in_silence() -> None:
    store = Forgetful()
    with fail_after(5):
        async with scene(store=store) as stage:
            session = await stage.session()
            head = await rename(stage, session, 8)
            stage.workspace.tail = Tail(head)
            async with Watcher(stage.workspace, Position(1)) as watcher:
                store.trim_at = Position(6)
                await watcher.once()
            assert (watcher.entries, [snapshot.position for snapshot in watcher.snapshots]) == ([], [head])


async def test_what_another_server_wrote_between_is_not_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with fail_after(10):
        async with open_store(tmp_path) as store, scene(store=store) as stage:
            session = await stage.session()
            # A file system that does not keep locks lets a second server in.
            monkeypatch.setattr("turnkeeper.store.lock.fcntl.flock", forgets)
            async with open_store(tmp_path) as another, Watcher(stage.workspace, START) as watcher:
                await watcher.until(await store.head())
                await another.append(SessionId("theirs"), [SessionCreated("theirs")], after=START)
                await watcher.until(await rename(stage, session, 2))
            assert watcher.entries == await log_of(store)
            assert [entry.session_id for entry in watcher.entries] == [session, "theirs", session, session]


async def test_an_ending_reaches_one_who_reads_nothing_until_it_is_over() -> None:
    """The original drops an ending after 50 ms for whoever does not read; here there is nothing to drop it from."""
    with fail_after(20):
        async with scene(turn(Say("x" * 3000, characters=1))) as stage, Watcher(stage.workspace) as stalled:
            stage.workspace.tail = Tail(stage.workspace.tail.head, entries_max=4)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(stalled.once)
                await anyio.wait_all_tasks_blocked()
                await stage.run("hi", run_id="r1")
            await stalled.until(await stage.store.head())
        endings = [entry.event for entry in stalled.entries if isinstance(entry.event, RunComplete)]
        assert [ending.run_id for ending in endings] == ["r1"]
        assert stalled.positions == list(range(stalled.positions[0], stalled.positions[-1] + 1))


async def test_what_is_whispered_adds_up_to_what_is_said_and_can_be_done_without() -> None:
    with fail_after(10):
        async with (
            scene(turn(Hold("go"), Say("a long answer", characters=2))) as stage,
            Watcher(stage.workspace, START) as eager,
            Watcher(stage.workspace, START, deltas=False) as plain,
        ):
            run_id = await stage.submit("hi", await stage.session())
            await stage.model.reached("go")
            async with anyio.create_task_group() as tasks:

                async def listen() -> None:
                    while not any(isinstance(entry.event, RunComplete) for entry in eager.entries):
                        await eager.once()

                tasks.start_soon(listen)
                await anyio.wait_all_tasks_blocked()
                stage.model.release("go")
                await stage.workspace.ended(run_id)
            await plain.until(await stage.store.head())
        assert "".join(delta.text for delta in eager.deltas) == "a long answer"
        assert plain.deltas == []
        assert [e for e in plain.entries if e.position <= eager.positions[-1]] == eager.entries


@asynccontextmanager
async def watchers(workspace: Workspace, number: int) -> AsyncGenerator[Sequence[Watcher]]:
    everybody = [Watcher(workspace, START) for _ in range(number)]
    try:
        yield everybody
    finally:
        for watcher in everybody:
            await watcher.__aexit__()


async def test_any_number_of_watchers_hear_the_same(store: Store) -> None:
    with fail_after(20):
        async with scene(turn(Say("hello")), store=store) as stage, watchers(stage.workspace, 100) as everybody:
            session = await stage.session()
            async with anyio.create_task_group() as tasks:
                for watcher in everybody:
                    tasks.start_soon(watcher.until, Position(12))
                await stage.run("hi", session)
                await rename(stage, session, 12)
            for watcher in everybody:
                await watcher.until(await store.head())
            heard = await log_of(store)
            assert all(watcher.entries == heard for watcher in everybody)
