"""A view is a fold: whoever came late, heard things twice or missed fragments sees what everybody sees."""

from dataclasses import dataclass

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as some

from tests.client.scene import served
from turnkeeper.client.events import Told
from turnkeeper.client.view import View, begun, read, reading, seen, shed
from turnkeeper.models.scripted import CallTool, Hold, Say, turn
from turnkeeper.protocol.messages import Message
from turnkeeper.protocol.wire_details import WireDelta
from turnkeeper.protocol.wire_own import Snapshot
from turnkeeper.protocol.wire_stream import Envelope
from turnkeeper.testing.scene import PlainTool
from turnkeeper.tools.tool import Call, Hands


@dataclass(frozen=True)
class Record:
    """All that was told of two prompts in one session, and how it was before, between and after."""

    session_id: str
    told: tuple[Envelope, ...]
    positions: tuple[int, ...]
    snapshots: tuple[Snapshot, ...]
    messages: tuple[Message, ...]


async def recorded() -> Record:
    async def look(call: Call, hands: Hands) -> str:
        return "a.txt"

    script = (
        turn(Say("Let me look. ", characters=3), CallTool("c1", "look")),
        turn(Say("There is one file.", characters=2), Hold("between")),
        turn(Say("Yes.", characters=1)),
    )
    async with served(*script, tools=[PlainTool("look", look)]) as server, server.workspace() as workspace:
        session = await workspace.sessions.create("Talk")
        snapshots = [await workspace.snapshot()]
        events: list[Told] = []
        async with workspace.follow(after=snapshots[0].position) as heard:
            await workspace.runs.submit(session.id, "look", run_id="r1", foldable=False)
            await server.front.model().reached("between")
            await workspace.runs.submit(session.id, "sure?", run_id="r2", foldable=False)
            snapshots.append(await workspace.snapshot())
            server.front.model().release("between")
            with anyio.fail_after(10):
                async for one in heard:
                    if isinstance(one, Told):
                        events.append(one)
                        if one.envelope.kind == "run_complete" and getattr(one.envelope.payload, "run_id", "") == "r2":
                            break
        snapshots.append(await workspace.snapshot())
        messages = await workspace.messages.list(session.id)
    places = [one.position or 0 for one in events]
    return Record(session.id, tuple(one.envelope for one in events), tuple(places), tuple(snapshots), tuple(messages))


@pytest.fixture(scope="module")
def record() -> Record:
    return anyio.run(recorded)


def from_the_beginning(record: Record) -> View:
    return read(reading(begun(record.snapshots[0]), record.session_id), record.session_id, ())


def all_of(view: View, told: "tuple[Envelope, ...] | list[Envelope]") -> View:
    for envelope in told:
        view = seen(view, envelope)
    return view


def what_is_seen(view: View, session_id: str) -> object:
    """What a person would see of it."""
    said = [(one.id, one.text, tuple(one.tool_calls)) for one in view.conversation(session_id).shown()]
    runs = {id: (run.state, run.outcome, run.text) for id, run in view.runs.items()}
    return said, runs, {id: queue for id, queue in view.queues.items() if queue}, view.active(session_id)


def test_the_end_of_it_is_what_the_server_says_there_was(record: Record) -> None:
    view = all_of(from_the_beginning(record), record.told)
    said, runs, queues, active = what_is_seen(view, record.session_id)  # type: ignore[misc]
    assert said == [(one.id, one.text, tuple(one.tool_calls)) for one in record.messages]
    assert runs == {"r1": ("ended", "completed", "There is one file."), "r2": ("ended", "completed", "Yes.")}
    assert (queues, active) == ({}, None)


def test_the_prompt_in_line_is_seen_until_its_turn_comes(record: Record) -> None:
    view = begun(record.snapshots[1])
    assert [run.prompt for run in view.waiting(record.session_id)] == ["sure?"]
    going = view.active(record.session_id)
    assert (going.run_id if going else "") == "r1"


def test_everything_told_twice_changes_nothing(record: Record) -> None:
    once = all_of(from_the_beginning(record), record.told)
    twice = all_of(from_the_beginning(record), [one for envelope in record.told for one in (envelope, envelope)])
    assert what_is_seen(twice, record.session_id) == what_is_seen(once, record.session_id)


@given(data=some.data())
def test_fragments_may_be_missed_and_doubled_as_they_please(data: some.DataObject, record: Record) -> None:
    told: list[Envelope] = []
    for envelope in record.told:
        is_fragment = isinstance(envelope.payload, WireDelta)
        told += [envelope] * (data.draw(some.integers(0, 2)) if is_fragment else 1)
    expected = what_is_seen(all_of(from_the_beginning(record), record.told), record.session_id)
    assert what_is_seen(all_of(from_the_beginning(record), told), record.session_id) == expected


def test_whoever_comes_in_the_middle_sees_what_the_others_see(record: Record) -> None:
    """From a snapshot, the conversation asked for while it goes on, and told meanwhile what goes on."""
    late = record.snapshots[1]
    begin = next(at for at, place in enumerate(record.positions) if place > late.position)
    view = reading(begun(late), record.session_id)
    view = all_of(view, record.told[begin : begin + 3])
    view = read(view, record.session_id, record.messages)
    view = all_of(view, record.told[begin + 3 :])
    everybody = all_of(from_the_beginning(record), record.told)
    assert what_is_seen(view, record.session_id) == what_is_seen(everybody, record.session_id)


def test_of_many_conversations_those_that_nobody_keeps_are_let_go_oldest_first() -> None:
    view = View()
    for id in "abcdef":
        view = reading(view, id)
    assert list(shed(view, most=3, keep={"a", "d"}).conversations) == ["a", "d", "f"]
    assert list(shed(view, most=1, keep={"a", "d"}).conversations) == ["a", "d"]
    assert shed(view, most=6, keep=()) is view
