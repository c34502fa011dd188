"""What every store promises about the log, about runs, and about requests."""

import anyio
import msgspec
import pytest

from tests.store.replaying import views_equal_replay
from tests.store.scenes import AT, SECONDS, A, B, C, Q, S, T, accepted, asked, begin, completed, said, tell
from tests.store.scenes import M as MESSAGE
from turnkeeper.protocol.clients import ClientName
from turnkeeper.protocol.events import (
    ClientNamed,
    ConfigChanged,
    Entry,
    Event,
    Gate,
    GateMoved,
    GrantGiven,
    GrantRevoked,
    PromptEdited,
    PromptSteered,
    QueueReordered,
    RequestAnswered,
    RequestAsked,
    RequestWithdrawn,
    RunComplete,
    RunFolded,
    RunStarted,
    RunStopping,
    SessionCreated,
    SessionDeleted,
    SessionRenamed,
    UsageCounted,
)
from turnkeeper.protocol.ids import START, WORKSPACE, ClientId, Position, RunId, SessionId
from turnkeeper.protocol.problems import (
    Problem,
    RequestSettled,
    RunNotFound,
    RunNotQueued,
    RunTaken,
    SessionMoved,
    SessionNotFound,
    SessionTaken,
    StoreUnavailable,
)
from turnkeeper.protocol.requests import Decision, Grant, Rule, Verdict
from turnkeeper.protocol.runs import Cause, Failure, Outcome, Prompt, RunState, Usage
from turnkeeper.store.store import NAMES_MAX, Settled, Store


async def refused(store: Store, problem: type[Problem], *events: Event, session_id: SessionId = S) -> None:
    """The append is refused, and nothing of it was written."""
    head = await store.head()
    with pytest.raises(problem):
        await tell(store, *events, session_id=session_id)
    assert await store.head() == head
    await views_equal_replay(store)


async def test_a_new_log_is_empty(store: Store) -> None:
    assert (await store.head(), await store.read(START), await store.sessions()) == (START, [], [])


async def test_events_get_consecutive_positions_and_are_read_back_as_they_were_said(store: Store) -> None:
    events = (SessionCreated("A session"), accepted(A), RunStarted(A))
    assert await tell(store, *events) == 3
    assert await store.read(START) == [Entry(Position(n), S, event, AT) for n, event in enumerate(events, start=1)]
    assert await store.read(Position(1), limit=1) == [Entry(Position(2), S, events[1], AT)]


async def test_an_append_of_nothing_writes_nothing_and_tells_where_the_session_ends(store: Store) -> None:
    await begin(store, session_id=T)
    end = await begin(store)
    await tell(store, ConfigChanged(), session_id=WORKSPACE)
    assert await tell(store) == end
    assert await store.head() == 3


async def test_an_append_based_on_what_is_no_longer_so_writes_nothing(store: Store) -> None:
    end = await begin(store)
    await tell(store, accepted(A), after=end)
    with pytest.raises(SessionMoved) as moved:
        await tell(store, accepted(B), after=end)
    assert (moved.value.session_id, moved.value.expected, moved.value.found) == (S, 1, 2)
    assert await store.run(B) is None


async def test_sessions_move_on_independently(store: Store) -> None:
    first = await begin(store)
    second = await begin(store, session_id=T)
    assert await tell(store, accepted(A), after=first) == 3
    assert await tell(store, accepted(B), session_id=T, after=second) == 4


async def test_a_refused_event_takes_the_whole_append_with_it(store: Store) -> None:
    await begin(store, accepted(A))
    await refused(store, RunTaken, said(MESSAGE), accepted(B), accepted(A))
    assert await store.message(MESSAGE) is None
    assert await store.run(B) is None


async def test_one_refused_append_does_not_hurt_those_that_are_written_with_it(store: Store) -> None:
    await begin(store, accepted(A))
    problems: list[str] = []

    async def submit(run_id: RunId) -> None:
        try:
            await tell(store, accepted(run_id))
        except RunTaken:
            problems.append(run_id)

    async with anyio.create_task_group() as tasks:
        for number in range(20):
            tasks.start_soon(submit, RunId(f"new-{number}"))
            tasks.start_soon(submit, A)
    assert problems == [A] * 20
    assert len(await store.runs(S)) == 21
    await views_equal_replay(store)


async def test_a_run_is_accepted_once_in_the_whole_workspace(store: Store) -> None:
    await begin(store, accepted(A))
    await begin(store, session_id=T)
    await refused(store, RunTaken, accepted(A))
    await refused(store, RunTaken, accepted(A), session_id=T)


@pytest.mark.parametrize("second", [completed(A), RunFolded(A, B), RunStarted(A), RunStopping(A)])
@pytest.mark.parametrize("first", [completed(A), RunFolded(A, B)])
async def test_a_run_that_has_ended_does_nothing_more(store: Store, first: Event, second: Event) -> None:
    await begin(store, accepted(A), accepted(B), first)
    await refused(store, RunTaken, second)


async def test_what_is_forgotten_of_the_log_is_still_held_against_a_second_time(store: Store) -> None:
    await begin(store, accepted(A), completed(A), RequestAsked(asked()), RequestWithdrawn(Q))
    assert await store.prune(before=Position(100)) == 5
    for event, problem in [
        (accepted(A), RunTaken),
        (completed(A), RunTaken),
        (RequestAsked(asked()), RequestSettled),
        (RequestWithdrawn(Q), RequestSettled),
        (SessionCreated(), SessionTaken),
    ]:
        with pytest.raises(problem):
            await tell(store, event)
    assert await tell(store, accepted(B), after=Position(5)) == 6


async def test_a_session_has_one_run_at_work(store: Store) -> None:
    await begin(store, accepted(A), accepted(B), RunStarted(A))
    await refused(store, RunTaken, RunStarted(B))
    await tell(store, RunStopping(A))
    await refused(store, RunTaken, RunStarted(B))
    await tell(store, completed(A), RunStarted(B))


@pytest.mark.parametrize(
    "event", [completed(C), RunStarted(C), RunStopping(C), RunFolded(C, A), PromptSteered(C, True)]
)
async def test_a_run_that_was_never_accepted_is_not_found(store: Store, event: Event) -> None:
    await begin(store)
    await refused(store, RunNotFound, event)


async def test_only_a_waiting_prompt_is_changed(store: Store) -> None:
    await begin(store, accepted(A), RunStarted(A), accepted(B))
    await tell(store, PromptEdited(B, Prompt("rather this")), PromptSteered(B, True))
    await refused(store, RunNotQueued, PromptEdited(A, Prompt("too late")))
    await refused(store, RunNotQueued, PromptSteered(A, True))
    run = await store.run(B)
    assert run is not None
    assert (run.prompt, run.foldable, run.digest) == (Prompt("rather this"), True, "digest of do it")


async def test_a_run_is_known_from_its_acceptance_to_its_ending(store: Store) -> None:
    failure = Failure(Cause.PROVIDER, "no answer", retryable=True)
    usage = Usage(1, 2, 3, 4, 5, 0.5, estimated=True)
    await begin(store, accepted(A), RunStarted(A), RunStopping(A))
    await tell(store, RunComplete(A, Outcome.FAILED, MESSAGE, "so far", failure, usage, steps=3))
    run = await store.run(A)
    assert run is not None
    assert (run.state, run.outcome, run.failure, run.usage) == (RunState.ENDED, Outcome.FAILED, failure, usage)
    assert (run.message_id, run.text, run.steps) == (MESSAGE, "so far", 3)
    assert (run.accepted_at, run.started_at, run.ended_at) == (AT, AT, AT)


async def test_a_folded_run_names_the_run_that_took_it(store: Store) -> None:
    await begin(store, accepted(A), RunStarted(A), accepted(B), RunFolded(B, A))
    run = await store.run(B)
    assert run is not None
    assert (run.state, run.outcome, run.folded_into) == (RunState.ENDED, Outcome.FOLDED, A)


async def test_a_standing_is_what_runs_what_waits_and_what_is_asked(store: Store) -> None:
    await begin(store, accepted(A), accepted(B), accepted(C), RunStarted(A), RequestAsked(asked()))
    await tell(store, GateMoved(Gate.HELD), QueueReordered((C, A, RunId("unknown"), C)))
    standing = await store.standing(S)
    assert standing is not None
    assert (standing.position, standing.gate) == (8, Gate.HELD)
    assert (standing.active and standing.active.id, [run.id for run in standing.queue]) == (A, [C, B])
    assert standing.requests == (asked(),)
    assert await store.standing(T) is None


async def test_whoever_comes_after_a_reordering_still_comes_last(store: Store) -> None:
    await begin(store, accepted(A), accepted(B), QueueReordered((B, A)), accepted(C))
    standing = await store.standing(S)
    assert standing is not None
    assert [run.id for run in standing.queue] == [B, A, C]


async def test_a_snapshot_is_everything_unended_as_of_one_position(store: Store) -> None:
    await begin(store, accepted(A), accepted(B), RunStarted(A), session_id=T)
    await begin(store, accepted(C), completed(C), GateMoved(Gate.HELD))
    await tell(store, RequestAsked(asked(session_id=T)), session_id=T)
    snapshot = await store.snapshot()
    assert snapshot.position == await store.head() == 9
    assert [info.id for info in snapshot.sessions] == [S, T]
    assert [(run.session_id, run.id) for run in snapshot.runs] == [(T, A), (T, B)]
    assert (snapshot.requests, snapshot.held) == ((asked(session_id=T),), (S,))


@pytest.mark.parametrize("event", [RequestAnswered(Q, Decision(True)), RequestWithdrawn(Q)])
async def test_a_request_is_settled_once(store: Store, event: Event) -> None:
    await begin(store, accepted(A), RequestAsked(asked()))
    assert await store.request(Q) == asked()
    await tell(store, event)
    assert await store.request(Q) is None
    await refused(store, RequestSettled, RequestAnswered(Q, Decision(False)))
    await refused(store, RequestSettled, RequestWithdrawn(Q))
    await refused(store, RequestSettled, RequestAsked(asked()))


async def test_what_was_decided_is_kept_for_the_audit_newest_first(store: Store) -> None:
    other = asked(type(Q)("r"))
    await begin(store, RequestAsked(asked()), RequestAsked(other))
    await tell(store, RequestAnswered(Q, Decision(True), ClientId("me")), RequestWithdrawn(other.id, "cancelled"))
    first, second = Settled(asked(), Decision(True), "me", "", AT), Settled(other, None, "", "cancelled", AT)
    assert await store.settled() == [second, first]
    assert await store.settled(limit=1) == [second]


async def test_grants_hold_until_they_are_revoked(store: Store) -> None:
    grants = [Grant(name, Rule(Verdict.ALLOW, "bash"), "workspace") for name in ("one", "two")]
    await tell(store, *map(GrantGiven, grants), session_id=WORKSPACE)
    assert await store.grants() == grants
    await tell(store, GrantRevoked("one"), session_id=WORKSPACE)
    assert await store.grants() == grants[1:]


async def test_nothing_is_said_in_a_session_that_is_not_there(store: Store) -> None:
    for event in (
        accepted(A),
        said(MESSAGE),
        SessionRenamed("x"),
        SessionDeleted(),
        UsageCounted(Usage()),
        completed(A),
    ):
        await refused(store, SessionNotFound, event)


async def test_the_events_of_an_append_are_announced_in_the_logs_order_before_it_returns(store: Store) -> None:
    heard: list[Entry] = []
    store.on_commit(heard.extend)
    await begin(store)
    assert [entry.position for entry in heard] == [1]

    async def submit(number: int) -> None:
        end = await tell(store, accepted(RunId(f"{number}")))
        assert end in [entry.position for entry in heard]

    async with anyio.create_task_group() as tasks:
        for number in range(30):
            tasks.start_soon(submit, number)
    assert heard == await store.read(START)


async def test_an_append_is_carried_out_even_if_its_caller_is_cancelled(store: Store) -> None:
    await begin(store)
    with anyio.CancelScope() as scope:
        scope.cancel()
        await tell(store, accepted(A))
    assert await store.run(A) is not None


async def test_what_was_forgotten_is_no_longer_read_and_the_views_stay(store: Store) -> None:
    await begin(store, accepted(A), said(MESSAGE))
    assert await store.prune(before=Position(3)) == 2
    assert await store.prune(before=Position(3)) == 0
    assert (await store.kept_after(), await store.head()) == (2, 3)
    assert [entry.position for entry in await store.read(START)] == [3]
    assert [run.id for run in await store.runs()] == [A]
    assert await store.prune(before=Position(100)) == 1
    assert await store.head() == 3
    assert await tell(store, completed(A)) == 4


async def test_what_waits_works_asks_or_was_left_unfinished_is_unsettled(store: Store) -> None:
    scenes: dict[str, list[Event]] = {
        "idle": [],
        "over": [accepted(A), completed(A)],
        "waiting": [accepted(B)],
        "asking": [RequestAsked(asked())],
        "held": [GateMoved(Gate.HELD)],
        "unfinished": [said(MESSAGE)],
    }
    for name, events in scenes.items():
        await begin(store, *events, session_id=SessionId(name))
    assert await store.unsettled() == ["asking", "held", "unfinished", "waiting"]


async def test_a_closed_store_says_so(store: Store) -> None:
    await begin(store)
    await store.close()
    await store.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        await tell(store, accepted(A))


async def test_an_event_without_a_time_gets_the_time(store: Store) -> None:
    await store.append(S, [SessionCreated()], after=START)
    info = await store.session(S)
    assert info is not None
    assert info.updated_at == info.created_at >= SECONDS


async def test_clients_are_known_by_the_name_they_gave_last_in_the_order_in_which_they_gave_it(store: Store) -> None:
    one, other = ClientName(ClientId("1"), "alice@laptop", "terminal"), ClientName(ClientId("2"), "bob", "cli")
    again = msgspec.structs.replace(one, name="alice@desk")
    await tell(store, ClientNamed(one), ClientNamed(other), session_id=WORKSPACE)
    assert (await store.snapshot()).names == (one, other)
    await tell(store, ClientNamed(again), session_id=WORKSPACE)
    assert (await store.snapshot()).names == (other, again)
    await views_equal_replay(store)


async def test_of_more_clients_than_are_remembered_the_last_ones_are(store: Store) -> None:
    crowd = [ClientName(ClientId(str(number)), f"client {number}") for number in range(NAMES_MAX + 2)]
    await tell(store, *map(ClientNamed, crowd), session_id=WORKSPACE)
    assert (await store.snapshot()).names == tuple(crowd[2:])
