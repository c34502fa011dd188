"""An answer while it is written: kept behind in small pieces, whole at its end, whatever the disk does meanwhile."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import apsw
from anyio import fail_after

from tests.engine.survival import survived
from turnkeeper.engine.draft import Draft
from turnkeeper.models import model as heard
from turnkeeper.models.model import Trouble
from turnkeeper.models.scripted import CallTool, Fail, Hold, Say, Think, turn
from turnkeeper.protocol.events import Event, MessageReset, PartSaid
from turnkeeper.protocol.ids import MessageId, SessionId, ToolCallId
from turnkeeper.protocol.messages import Delta, Finish, FinishReason, Message, Reasoning, Role, Text, ToolCall
from turnkeeper.protocol.problems import StoreUnavailable
from turnkeeper.protocol.runs import Outcome
from turnkeeper.store.memory import MemoryStore
from turnkeeper.store.sqlite import open_store
from turnkeeper.store.store import Piece
from turnkeeper.testing.scene import QUICK, PlainTool, scene
from turnkeeper.tools.tool import Call, Hands

END = Finish(FinishReason.END_TURN)
CALL = ToolCallId("c1")
BY_SIZE = replace(QUICK, write_behind_seconds=1000.0, write_behind_bytes=100)
"""Nothing here depends on how fast the machine is: only what fills a piece is written behind."""


def draft() -> Draft:
    message = Message(MessageId("m"), SessionId("s"), Role.ASSISTANT)
    whispered: list[Delta] = []
    return Draft(message, whisper=whispered.append, now=lambda: 7000, unsaved_bytes_max=100)


def test_what_is_said_in_turns_keeps_its_order_and_everything_that_belongs_to_it() -> None:
    """The original has one text and one reasoning to a message, and forgets a thought's signature."""
    answer = draft()
    facts: list[Event] = []
    for chunk in (
        heard.ReasoningSaid("first "),
        heard.ReasoningSaid("thought"),
        heard.ReasoningDone("signed", '{"provider":"data"}'),
        heard.TextSaid("then "),
        heard.TextSaid("words"),
        heard.ToolCallBegun(CALL, "look"),
        heard.ToolInputSaid(CALL, '{"a"'),
        heard.ToolInputSaid(CALL, ":1}"),
        heard.ToolCallDone(CALL, "look", '{"a":1}', "call data"),
        heard.ReasoningSaid("another thought"),
        heard.TextSaid("and the end"),
        heard.Finished(FinishReason.END_TURN),
    ):
        facts += answer.hear(chunk)
        answer.told()
    facts += answer.finish(END)
    parts = (
        Reasoning("first thought", "signed", 7, 7, '{"provider":"data"}'),
        Text("then words"),
        ToolCall(CALL, "look", '{"a":1}', finished=True, provider_data="call data"),
        Reasoning("another thought", started_at=7, finished_at=7),
        Text("and the end"),
        END,
    )
    assert answer.message().parts == parts
    assert {fact.index: fact.part for fact in facts if isinstance(fact, PartSaid)} == dict(enumerate(parts))


def test_a_piece_that_was_not_kept_is_part_of_the_next_one() -> None:
    answer = draft()
    answer.hear(heard.TextSaid("one "))
    lost = answer.unsaved()
    answer.hear(heard.TextSaid("two "))
    again = answer.unsaved()
    assert (lost and lost.text, again and (again.offset, again.text)) == ("one ", (0, "one two "))
    assert again
    answer.hear(heard.TextSaid("three"))
    answer.saved(again)
    rest = answer.unsaved()
    assert rest
    assert (rest.offset, rest.text) == (8, "three")
    answer.saved(rest)
    assert answer.unsaved() is None


def test_a_piece_of_a_part_that_ended_meanwhile_takes_nothing_from_the_next_part() -> None:
    answer = draft()
    answer.hear(heard.TextSaid("one"))
    late = answer.unsaved()
    assert late
    answer.hear(heard.ReasoningSaid("one"))
    answer.saved(late)
    fresh = answer.unsaved()
    assert fresh
    assert (fresh.index, fresh.offset, fresh.text) == (1, 0, "one")


def test_what_could_not_be_told_is_told_with_the_end() -> None:
    answer = draft()
    answer.hear(heard.TextSaid("words"))
    untold = answer.hear(heard.ToolCallBegun(CALL, "look"))
    closing = answer.finish(END)
    assert closing[: len(untold)] == untold
    assert [fact.index for fact in closing if isinstance(fact, PartSaid)] == [0, 1, 1, 2]
    assert answer.finish(END) == closing
    assert answer.message().parts == (Text("words"), ToolCall(CALL, "look", "{}", finished=True), END)


def test_a_reset_that_could_not_be_told_is_told_before_what_followed_it() -> None:
    answer = draft()
    answer.hear(heard.TextSaid("first try"))
    answer.reset()
    answer.hear(heard.TextSaid("second try"))
    closing = answer.finish(END)
    assert closing[0] == MessageReset(MessageId("m"))
    assert [fact.part for fact in closing if isinstance(fact, PartSaid)] == [Text("second try"), END]


class Failing(MemoryStore):
    """A store that keeps nothing behind until it is mended, and remembers what it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.broken = True
        self.refused = anyio.Event()
        self.kept: list[Piece] = []
        self.more = anyio.Event()

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.kept)

    async def write_behind(self, pieces: Sequence[Piece]) -> None:
        if self.broken:
            self.refused.set()
            raise StoreUnavailable("the disk is full")
        await super().write_behind(pieces)
        self.kept += pieces
        self.more.set()
        self.more = anyio.Event()


async def test_a_disk_that_cannot_keep_what_is_behind_costs_the_answer_nothing() -> None:
    store = Failing()
    with fail_after(10):
        async with scene(
            turn(Say("before "), Hold("full"), Say("after "), Hold("mended"), Say("the end")), store=store
        ) as stage:
            session = await stage.session()
            run_id = await stage.submit("hi", session)
            await stage.model.reached("full")
            await store.refused.wait()
            stage.model.release("full")
            await stage.model.reached("mended")
            store.broken = False
            while store.text != "before after ":
                await store.more.wait()
            stage.model.release("mended")
            run = await stage.workspace.ended(run_id)
    assert (run.outcome, run.text) == (Outcome.COMPLETED, "before after the end")


async def test_a_run_waits_for_its_disk_and_says_everything_once_there_is_room() -> None:
    async def look(call: Call, hands: Hands) -> str:
        used.append(call.id)
        return "seen"

    used: list[str] = []
    store = MemoryStore()
    with fail_after(20):
        async with scene(
            turn(Think("hm"), Say("I look"), Hold("full"), CallTool("c1", "look", {})),
            turn(Say("seen")),
            store=store,
            tools=[PlainTool("look", look)],
        ) as stage:
            run_id = await stage.submit("hi", await stage.session(), "r0")
            await stage.model.reached("full")
            store.fail_next(times=2)
            stage.model.release("full")
            run = await stage.workspace.ended(run_id)
            await survived(stage.workspace, {run_id: "hi"})
    assert (run.outcome, run.text, used) == (Outcome.COMPLETED, "seen", ["c1"])


async def test_a_run_whose_disk_stays_full_fails_with_that_reason_and_keeps_what_it_said() -> None:
    store = MemoryStore()
    with fail_after(20):
        async with scene(
            turn(Say("I look"), Hold("full"), CallTool("c1", "look", {})), store=store, knobs=IMPATIENT
        ) as stage:
            session = await stage.session()
            run_id = await stage.submit("hi", session, "r0")
            await stage.model.reached("full")
            store.fail_next(StoreUnavailable("the disk is full"), times=4)
            stage.model.release("full")
            run = await stage.workspace.ended(run_id)
            _, answer, _ = await stage.messages(session)
            await survived(stage.workspace, {run_id: "hi"})
    assert run.outcome is Outcome.FAILED
    assert run.failure is not None
    assert run.failure.message == "the disk is full"
    assert answer.parts[0] == Text("I look")


IMPATIENT = replace(QUICK, store_seconds=0.1)


async def test_what_is_behind_is_bounded_by_its_size_however_long_the_pause() -> None:
    store = Failing()
    store.broken = False
    with fail_after(10):
        async with scene(turn(Say("x" * 1050, characters=10), Hold("here")), store=store, knobs=BY_SIZE) as stage:
            await stage.submit("hi", await stage.session())
            await stage.model.reached("here")
            while sum(len(piece.text) for piece in store.kept) < 1000:
                await anyio.lowlevel.checkpoint()
    assert [piece.offset for piece in store.kept] == sorted(piece.offset for piece in store.kept)


class CountingDisk(apsw.VFS):
    """Counts what SQLite writes."""

    def __init__(self) -> None:
        super().__init__("counting", "unix")
        self.written_bytes = 0

    def xOpen(self, name: Any, flags: Any) -> "CountingFile":
        return CountingFile(self, name, flags)


class CountingFile(apsw.VFSFile):
    def __init__(self, disk: CountingDisk, name: Any, flags: Any) -> None:
        super().__init__("unix", name, flags)
        self._disk = disk

    def xWrite(self, data: Any, offset: int) -> None:
        self._disk.written_bytes += len(data)
        super().xWrite(data, offset)  # pyright: ignore[reportUnknownMemberType] apsw says no more


@asynccontextmanager
async def counted() -> AsyncGenerator[CountingDisk]:
    disk = CountingDisk()
    apsw.set_default_vfs("counting")
    try:
        yield disk
    finally:
        apsw.set_default_vfs("unix")
        disk.unregister()


async def bytes_of_an_answer(directory: Path, deltas: int) -> int:
    """What a whole run writes whose answer comes in so many deltas, to a disk that counts."""
    async with (
        counted() as disk,
        open_store(directory) as store,
        scene(turn(Say("word " * deltas, characters=5)), store=store, knobs=BY_KILOBYTE) as stage,
    ):
        before = disk.written_bytes
        run = await stage.run("say it all")
        assert run.text == "word " * deltas
        return disk.written_bytes - before


BY_KILOBYTE = replace(QUICK, write_behind_seconds=1000.0, write_behind_bytes=1024)


async def test_a_long_answer_writes_bytes_in_proportion_to_its_length(tmp_path: Path) -> None:
    """The original writes the whole message again and again: ten times the words, a hundred times the bytes."""
    with fail_after(50):
        few = await bytes_of_an_answer(tmp_path / "few", 2_000)
        many = await bytes_of_an_answer(tmp_path / "many", 20_000)
    assert many <= 12 * few


async def test_an_answer_that_is_asked_for_again_leaves_nothing_of_the_first_try() -> None:
    store = Failing()
    store.broken = False
    with fail_after(10):
        async with scene(
            turn(Say("first try " * 20), Fail(Trouble.BUSY)), turn(Say("second")), store=store, knobs=BY_SIZE
        ) as stage:
            session = await stage.session()
            await stage.run("hi", session)
            answer = (await stage.messages(session))[-1]
            assert await store.pieces(session) == []
    assert [part for part in answer.parts if isinstance(part, Text)] == [Text("second")]
