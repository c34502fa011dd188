"""Bells wake whoever waits; whispers reach those who keep up, in fewer and larger ones when they are slow."""

import anyio
import pytest

from turnkeeper.broker.broker import Broker
from turnkeeper.broker.memory import DELTA_BYTES_EACH, DELTA_BYTES_MAX, MemoryBroker
from turnkeeper.protocol.ids import START, MessageId, Position, SessionId, WorkspaceId
from turnkeeper.protocol.messages import Delta, PartKind

W, OTHER = WorkspaceId("w"), WorkspaceId("other")


@pytest.fixture
def broker() -> Broker:
    return MemoryBroker()


def delta(text: str, offset: int = 0, *, message: str = "m", part: PartKind = PartKind.TEXT) -> Delta:
    return Delta(SessionId("s"), MessageId(message), 0, part, offset, text)


async def test_a_bell_that_rang_before_the_question_is_not_missed(broker: Broker) -> None:
    async with broker.watch(W) as watch:
        broker.ring(W, Position(7))
        with anyio.fail_after(5):
            assert await watch.next(Position(6)) == (7, [])


async def test_a_watcher_sleeps_until_the_log_reaches_beyond_what_it_has(broker: Broker) -> None:
    heard: list[Position] = []
    async with broker.watch(W, deltas=False) as watch, anyio.create_task_group() as tasks:

        async def listen() -> None:
            position, _ = await watch.next(Position(7))
            heard.append(position)

        tasks.start_soon(listen)
        for position in (3, 7):
            broker.ring(W, Position(position))
            await anyio.wait_all_tasks_blocked()
        assert heard == []
        broker.ring(W, Position(8))
        with anyio.fail_after(5):
            await anyio.wait_all_tasks_blocked()
    assert heard == [8]


async def test_a_bell_never_takes_the_log_back(broker: Broker) -> None:
    async with broker.watch(W) as watch:
        broker.ring(W, Position(7))
        broker.ring(W, Position(5))
        with anyio.fail_after(5):
            assert await watch.next(START) == (7, [])


async def test_whispers_that_follow_one_another_arrive_as_one(broker: Broker) -> None:
    async with broker.watch(W) as watch:
        for offset, letter in enumerate("hello"):
            broker.whisper(W, delta(letter, offset))
        with anyio.fail_after(5):
            assert await watch.next(START) == (START, [delta("hello")])


async def test_parts_that_are_written_at_once_are_each_put_together(broker: Broker) -> None:
    async with broker.watch(W) as watch:
        for said in (delta("a"), delta("x", message="n"), delta("b", 1), delta("y", 1, message="n")):
            broker.whisper(W, said)
        with anyio.fail_after(5):
            assert await watch.next(START) == (START, [delta("ab"), delta("xy", message="n")])


async def test_a_gap_or_another_kind_of_part_is_not_glued_over(broker: Broker) -> None:
    said = [delta("a"), delta("c", 2), delta("thought", part=PartKind.REASONING)]
    async with broker.watch(W) as watch:
        for one in said:
            broker.whisper(W, one)
        with anyio.fail_after(5):
            assert await watch.next(START) == (START, said)


async def test_every_watcher_hears_each_whisper_once(broker: Broker) -> None:
    async with broker.watch(W) as fast, broker.watch(W) as slow:
        broker.whisper(W, delta("a"))
        with anyio.fail_after(5):
            assert await fast.next(START) == (START, [delta("a")])
            broker.whisper(W, delta("b", 1))
            assert await fast.next(START) == (START, [delta("b", 1)])
            assert await slow.next(START) == (START, [delta("ab")])


async def test_whoever_does_not_want_whispers_is_not_woken_by_them(broker: Broker) -> None:
    async with broker.watch(W, deltas=False) as watch:
        broker.whisper(W, delta("a"))
        with anyio.move_on_after(0) as scope:
            await watch.next(START)
        assert scope.cancelled_caught
        broker.ring(W, Position(1))
        with anyio.fail_after(5):
            assert await watch.next(START) == (1, [])


async def test_workspaces_do_not_hear_one_another(broker: Broker) -> None:
    async with broker.watch(W) as watch:
        broker.ring(OTHER, Position(9))
        broker.whisper(OTHER, delta("a"))
        broker.ring(W, Position(1))
        with anyio.fail_after(5):
            assert await watch.next(START) == (1, [])


async def test_what_was_whispered_before_a_watcher_came_is_not_told_to_it(broker: Broker) -> None:
    async with broker.watch(W):
        broker.whisper(W, delta("early"))
        async with broker.watch(W) as late:
            broker.whisper(W, delta("late", 5))
            with anyio.fail_after(5):
                assert await late.next(START) == (START, [delta("late", 5)])


async def test_a_watcher_that_stalls_holds_a_bounded_amount_and_hears_the_newest(broker: Broker) -> None:
    text = "x" * 1000
    count = 2 * DELTA_BYTES_MAX // 4000
    async with broker.watch(W) as stalled:
        for number in range(count):
            broker.whisper(W, delta(text, number * 1000))
        with anyio.fail_after(5):
            _, heard = await stalled.next(START)
    [one] = heard
    assert one.offset > 0
    assert one.offset + len(one.text) == count * 1000
    assert len(one.text) * 4 <= DELTA_BYTES_MAX


async def test_tiny_whispers_are_bounded_by_what_they_weigh_not_by_their_text(broker: Broker) -> None:
    async with broker.watch(W) as stalled:
        for number in range(3 * DELTA_BYTES_MAX // DELTA_BYTES_EACH):
            broker.whisper(W, delta("x", number))
        with anyio.fail_after(5):
            _, [one] = await stalled.next(START)
    assert len(one.text) <= DELTA_BYTES_MAX // DELTA_BYTES_EACH


async def test_five_hundred_watchers_are_woken_by_one_bell_and_a_stalled_one_keeps_nobody_waiting(
    broker: Broker,
) -> None:
    heard: list[Position] = []
    ready = anyio.Semaphore(0)

    async def listen() -> None:
        async with broker.watch(W) as watch:
            ready.release()
            position, _ = await watch.next(START)
            heard.append(position)

    with anyio.fail_after(5):
        async with broker.watch(W), anyio.create_task_group() as tasks:
            for _ in range(500):
                tasks.start_soon(listen)
            for _ in range(500):
                await ready.acquire()
            broker.ring(W, Position(1))
    assert heard == [1] * 500


async def test_a_cancelled_question_loses_no_whisper(broker: Broker) -> None:
    async with broker.watch(W) as watch:
        broker.whisper(W, delta("a"))
        with anyio.CancelScope() as scope:
            scope.cancel()
            await watch.next(START)
        assert scope.cancelled_caught
        with anyio.fail_after(5):
            assert await watch.next(START) == (START, [delta("a")])
