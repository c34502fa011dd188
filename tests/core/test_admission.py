"""A directory is opened once, whoever asks, and a server leaves only when it has nothing to stay for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnkeeper.core.admission import (
    RETIRED_MAX,
    Admission,
    Failed,
    Inserted,
    Joined,
    Opened,
    Refused,
    Settlement,
    begin,
    close,
    end_stay,
    expire,
    next_deadline,
    retire,
    settle,
    shutdown_if_idle,
    stay,
)
from turnkeeper.protocol.ids import ClientId, WorkspaceId
from turnkeeper.protocol.problems import ChannelsDiffer, ClientRetired, ServerClosing

A, B = ClientId("a"), ClientId("b")
HERE, THERE = "/home/ada/app", "/home/ada/lib"
ONE = Opened(WorkspaceId("w1"), HERE)
OTHER = Opened(WorkspaceId("w2"), HERE)
OPEN = Admission(opened=(ONE,))


def begun(admission: Admission = Admission(), client: ClientId = A, key: str = HERE) -> Admission:  # noqa: B008
    after, existing = begin(admission, client=client, key=key, channels=())
    assert existing is None
    return after


def settled(
    admission: Admission, built: Opened | None, client: ClientId = A, linger: float = 60
) -> tuple[Admission, Settlement]:
    return settle(admission, client=client, built=built, now=100, linger_seconds=linger)


def test_a_create_that_is_admitted_is_settled_by_what_was_built() -> None:
    pending = begun()
    assert pending == Admission(pending=1)
    assert settled(pending, ONE) == (OPEN, Inserted(ONE))


def test_a_second_create_of_the_same_directory_joins_the_first() -> None:
    assert begin(OPEN, client=B, key=HERE, channels=()) == (OPEN, ONE)


def test_another_directory_is_another_workspace() -> None:
    there = Opened(WorkspaceId("w2"), THERE)
    assert settled(begun(OPEN, key=THERE), there)[0].opened == (ONE, there)


def test_creates_of_one_directory_at_the_same_time_end_in_one_workspace() -> None:
    both = begun(begun(), B)
    first, won = settled(both, ONE)
    second, lost = settled(first, OTHER, B)
    assert (won, lost) == (Inserted(ONE), Joined(ONE))
    assert second == OPEN


@pytest.mark.parametrize("asked", [(), ("x",), ("y", "x"), ("x", "y", "z"), ("x", "z")])
def test_channels_are_shared_only_if_they_are_the_same_in_the_same_order(asked: tuple[str, ...]) -> None:
    opened = Opened(WorkspaceId("w1"), HERE, channels=("x", "y"))
    admission = Admission(opened=(opened,))
    assert begin(admission, client=A, key=HERE, channels=("x", "y")) == (admission, opened)
    with pytest.raises(ChannelsDiffer, match="requested channels differ from the existing workspace"):
        begin(admission, client=A, key=HERE, channels=asked)


def test_channels_that_differ_from_the_winners_refuse_the_loser_of_a_race() -> None:
    first, _ = settled(begun(begun(), B), ONE)
    after, refused = settled(first, Opened(WorkspaceId("w2"), HERE, channels=("x",)), B)
    assert isinstance(refused, Refused)
    assert isinstance(refused.problem, ChannelsDiffer)
    assert after == OPEN


def test_a_failed_create_leaves_nothing_and_lets_the_idle_server_go() -> None:
    assert settled(begun(), None) == (Admission(leave_at=160), Failed())
    assert settled(begun(), None, linger=0) == (Admission(closing=True), Failed())


def test_a_retired_client_opens_nothing_and_the_time_of_leaving_stands() -> None:
    admission = retire(Admission(leave_at=160), A)
    with pytest.raises(ClientRetired, match="client has been retired"):
        begin(admission, client=A, key=HERE, channels=())
    assert begun(admission, B).leave_at is None
    assert retire(admission, A) == admission


def test_a_client_retired_while_its_workspace_is_built_is_refused_and_leaves_none() -> None:
    after, refused = settled(retire(begun(), A), ONE)
    assert isinstance(refused, Refused)
    assert isinstance(refused.problem, ClientRetired)
    assert after == Admission(retired=(A,), leave_at=160)


def test_only_so_many_retired_clients_are_remembered_and_they_are_the_last() -> None:
    admission = Admission(retired=tuple(ClientId(str(n)) for n in range(RETIRED_MAX)))
    after = retire(admission, A)
    assert len(after.retired) == RETIRED_MAX
    assert (after.retired[0], after.retired[-1]) == (ClientId("1"), A)
    assert retire(after, ClientId("1")).retired[-2:] == (A, ClientId("1"))


def test_the_last_workspace_to_close_sets_the_time_of_leaving() -> None:
    two = Admission(opened=(ONE, Opened(WorkspaceId("w2"), THERE)))
    one_left = close(two, ONE.workspace, now=100)
    assert next_deadline(one_left) is None
    assert next_deadline(close(one_left, WorkspaceId("w2"), now=100)) == 160


def test_without_a_linger_the_last_workspace_to_close_is_the_end() -> None:
    assert close(OPEN, ONE.workspace, now=100, linger_seconds=0) == Admission(closing=True)


def test_closing_what_is_not_open_changes_nothing() -> None:
    assert close(Admission(), ONE.workspace, now=100, linger_seconds=0) == Admission()
    assert close(OPEN, WorkspaceId("gone"), now=100) == OPEN


def test_what_goes_on_without_a_workspace_keeps_the_server_until_the_last_of_it_is_over() -> None:
    staying = close(stay(stay(OPEN)), ONE.workspace, now=100)
    assert next_deadline(staying) is None
    assert shutdown_if_idle(staying) == (staying, False)
    one_left = end_stay(staying, now=200)
    assert next_deadline(one_left) is None
    assert next_deadline(end_stay(one_left, now=300)) == 360
    assert next_deadline(stay(Admission(leave_at=160))) is None


def test_a_server_that_was_never_used_does_not_leave_by_itself() -> None:
    assert next_deadline(Admission()) is None
    assert expire(Admission(), now=10**9) == Admission()


def test_an_idle_server_leaves_once_the_linger_is_over() -> None:
    idle = Admission(leave_at=160)
    assert expire(idle, now=159) == idle
    assert expire(idle, now=160) == Admission(closing=True)


def test_any_admitted_create_cancels_the_leaving() -> None:
    pending = begun(close(OPEN, ONE.workspace, now=100), key=THERE)
    assert pending == Admission(pending=1)
    assert expire(pending, now=10**9) == pending


def test_a_create_in_flight_keeps_the_server_though_its_last_workspace_closes() -> None:
    pending = begun(OPEN, key=THERE)
    assert close(pending, ONE.workspace, now=100, linger_seconds=0) == Admission(pending=1)
    assert shutdown_if_idle(pending) == (pending, False)


def test_a_request_to_leave_is_refused_while_a_workspace_lives_and_nothing_is_latched() -> None:
    assert shutdown_if_idle(OPEN) == (OPEN, False)
    assert begin(OPEN, client=A, key=HERE, channels=()) == (OPEN, ONE)


@pytest.mark.parametrize("leaving", [shutdown_if_idle(Admission())[0], expire(Admission(leave_at=1), now=1)])
def test_the_decision_to_leave_is_final(leaving: Admission) -> None:
    assert leaving == Admission(closing=True)
    with pytest.raises(ServerClosing, match="server is shutting down"):
        begin(leaving, client=A, key=HERE, channels=())


def test_leaving_is_told_before_retirement() -> None:
    with pytest.raises(ServerClosing):
        begin(Admission(closing=True, retired=(A,)), client=A, key=HERE, channels=())


TOLD = st.lists(
    st.tuples(
        st.sampled_from(["begin", "settle", "fail", "close", "expire", "shutdown", "retire", "stay", "end"]),
        st.sampled_from([A, B]),
        st.sampled_from([HERE, THERE]),
        st.integers(0, 90),
    ),
    max_size=40,
)


@given(TOLD, st.sampled_from([0, 60]))
def test_whatever_is_told_a_directory_is_open_once_and_the_server_leaves_only_when_idle(
    told: list[tuple[str, ClientId, str, int]], linger: float
) -> None:
    admission, now, building = Admission(), 0, list[tuple[ClientId, str]]()
    for number, (command, client, key, later) in enumerate(told):
        now += later
        match command:
            case "begin" if not admission.closing and client not in admission.retired:
                admission, existing = begin(admission, client=client, key=key, channels=())
                building += [] if existing else [(client, key)]
            case "settle" | "fail" if building:
                who, where = building.pop(0)
                built = Opened(WorkspaceId(str(number)), where) if command == "settle" else None
                admission, _ = settle(admission, client=who, built=built, now=now, linger_seconds=linger)
            case "close" if opened := admission.at(key):
                admission = close(admission, opened.workspace, now=now, linger_seconds=linger)
            case "expire":
                admission = expire(admission, now=now)
            case "shutdown":
                admission, _ = shutdown_if_idle(admission)
            case "retire":
                admission = retire(admission, client)
            case "stay" if not admission.closing:
                admission = stay(admission)
            case "end" if admission.staying:
                admission = end_stay(admission, now=now, linger_seconds=linger)
            case _:
                pass
        keys = [opened.key for opened in admission.opened]
        assert len(keys) == len(set(keys))
        assert admission.pending == len(building)
        assert admission.idle or not (admission.closing or admission.leave_at is not None)
