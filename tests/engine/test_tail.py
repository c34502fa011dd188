"""The end of the log that is held in memory: bounded by how many entries there are, and by what they hold."""

from turnkeeper.engine.tail import Tail
from turnkeeper.protocol.events import Entry, Event, FileSaid, MessageSaid, PartSaid, RunAccepted, SessionRenamed
from turnkeeper.protocol.ids import START, MessageId, Position, RunId, SessionId, ToolCallId
from turnkeeper.protocol.messages import Binary, Message, Role, Text, ToolResult
from turnkeeper.protocol.runs import Attachment, Prompt
from turnkeeper.protocol.sessions import FileVersion

HERE = SessionId("s")


def entry(position: int, event: Event) -> Entry:
    return Entry(Position(position), HERE, event, 0)


def file(position: int, letters: int) -> Entry:
    return entry(position, FileSaid(FileVersion(str(position), HERE, "/a", "x" * letters, position, 0, 0)))


def held(tail: Tail) -> list[int]:
    found = tail.after(tail.start, 1_000_000)
    assert found is not None
    return [one.position for one in found]


def test_what_is_held_is_what_fits_and_the_rest_is_read_from_the_store() -> None:
    tail = Tail(START, entries_max=100, letters_max=1_000)
    for position in range(1, 201):
        tail.add([file(position, 100)])
        assert len(held(tail)) <= 20
        assert held(tail)[-1] == tail.head == position
        assert tail.start == held(tail)[0] - 1
    assert tail.after(START, 10) is None


def test_one_entry_larger_than_the_bound_is_held_alone() -> None:
    tail = Tail(START, letters_max=1_000)
    tail.add([file(1, 10), file(2, 5_000)])
    assert held(tail) == [2]
    tail.add([file(3, 10)])
    assert held(tail) == [3]
    tail.add([file(4, 10)])
    assert held(tail) == [3, 4]


def test_small_events_are_bounded_by_their_number_alone() -> None:
    tail = Tail(START, entries_max=10, letters_max=1)
    for position in range(1, 100):
        tail.add([entry(position, SessionRenamed("a"))])
    assert 10 <= len(held(tail)) <= 20


def test_whatever_can_be_large_counts() -> None:
    large = "x" * 700
    message = Message(MessageId("m"), HERE, Role.TOOL, (Binary("/p.png", "image/png", large.encode()),))
    result = ToolResult(ToolCallId("c"), "view", "", data=large)
    attached = Prompt("look", (Attachment("/p.png", "p.png", "image/png", large.encode()),))
    accepted = RunAccepted(RunId("r"), attached, "digest")
    events: list[Event] = [
        MessageSaid(message),
        PartSaid(MessageId("m"), 0, result),
        PartSaid(MessageId("m"), 1, Text(large)),
        accepted,
    ]
    for event in events:
        tail = Tail(START, letters_max=1_000)
        for position in range(1, 10):
            tail.add([entry(position, event)])
        assert len(held(tail)) <= 2, event


def test_a_gap_empties_it() -> None:
    tail = Tail(START, letters_max=1_000)
    tail.add([file(1, 10), file(3, 10)])
    assert held(tail) == [3]
    assert tail.after(Position(1), 10) is None
