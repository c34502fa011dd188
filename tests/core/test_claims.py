"""A workspace is open while somebody is attached, may still come, or (if so agreed) a run is in progress."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnkeeper.core.claims import (
    Claim,
    Claims,
    Policy,
    attach,
    attached_clients,
    choose,
    create,
    detach,
    expire,
    introduce,
    keeps_open,
    next_deadline,
    present,
    release,
    retire,
    retire_everywhere,
)
from turnkeeper.protocol.clients import ClientName
from turnkeeper.protocol.ids import ClientId, SessionId, WorkspaceId
from turnkeeper.protocol.problems import ClientNotAttached

A, B, C = ClientId("a"), ClientId("b"), ClientId("c")
S, T, NONE = SessionId("s"), SessionId("t"), SessionId("")
USUAL = Policy(runs_keep_open=False)
AT_ONCE = Policy(detach_grace_seconds=0, runs_keep_open=False)


def held(until: float, session: SessionId = NONE) -> Claim:
    return Claim(A, until=until, session=session)


def attached(*streams: str, released: bool = False, session: SessionId = NONE) -> Claim:
    return Claim(A, streams=frozenset(streams), released=released, session=session)


def of(claim: Claim | None) -> Claims:
    return Claims({claim.client: claim} if claim else {})


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, held(130)),
        (held(101, S), held(130, S)),
        (attached("x", released=True, session=S), attached("x", session=S)),
        (attached("x"), attached("x")),
    ],
)
def test_a_create_holds_the_workspace_for_its_grace_and_takes_a_goodbye_back(
    before: Claim | None, after: Claim
) -> None:
    assert create(of(before), A, now=100, policy=USUAL) == of(after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, attached("x")),
        (held(130, S), attached("x", session=S)),
        (attached("w"), attached("w", "x")),
        (attached("w", released=True), attached("w", "x", released=True)),
    ],
)
def test_a_stream_attaches_and_takes_the_hold_away(before: Claim | None, after: Claim) -> None:
    assert attach(of(before), A, "x") == of(after)


@pytest.mark.parametrize(
    ("policy", "before", "after"),
    [
        (USUAL, attached("w", "x"), attached("w")),
        (USUAL, attached("x", session=S), held(110, S)),
        (USUAL, attached("x", released=True), None),
        (USUAL, attached("w", "x", released=True), attached("w", released=True)),
        (AT_ONCE, attached("x"), None),
        (USUAL, None, None),
        (USUAL, held(130), held(130)),
        (USUAL, attached("w"), attached("w")),
    ],
)
def test_the_end_of_the_last_stream_leaves_a_grace_unless_goodbye_was_said(
    policy: Policy, before: Claim | None, after: Claim | None
) -> None:
    assert detach(of(before), A, "x", now=100, policy=policy) == of(after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, None),
        (held(130), None),
        (attached("x", session=S), attached("x", released=True, session=S)),
        (attached("x", released=True), attached("x", released=True)),
    ],
)
def test_a_goodbye_ends_a_hold_at_once_and_a_stream_with_its_end(before: Claim | None, after: Claim | None) -> None:
    assert release(of(before), A) == of(after)


@pytest.mark.parametrize("before", [None, held(130), attached("x"), attached("x", released=True)])
def test_a_retired_client_has_no_claim_whatever_streams_it_has(before: Claim | None) -> None:
    assert retire(of(before), A) == of(None)


@pytest.mark.parametrize(
    ("before", "now", "after"),
    [
        (held(130), 129.9, held(130)),
        (held(130), 130, None),
        (held(130), 131, None),
        (attached("x"), 10**9, attached("x")),
        (None, 0, None),
    ],
)
def test_a_hold_runs_out_when_its_time_has_come(before: Claim | None, now: float, after: Claim | None) -> None:
    assert expire(of(before), now=now) == of(after)


def test_creating_twice_is_one_claim() -> None:
    once = create(Claims(), A, now=100, policy=USUAL)
    assert create(once, A, now=100, policy=USUAL) == once


def test_the_grace_of_a_create_does_not_end_an_attached_client() -> None:
    claims = attach(create(Claims(), A, now=0, policy=USUAL), A, "x")
    assert next_deadline(claims) is None
    assert expire(claims, now=10**6) == claims


def test_two_streams_of_one_client_both_have_to_end() -> None:
    claims = attach(attach(Claims(), A, "x"), A, "y")
    one_left = detach(claims, A, "x", now=0, policy=AT_ONCE)
    assert keeps_open(one_left, runs=0, policy=AT_ONCE)
    assert not keeps_open(detach(one_left, A, "y", now=0, policy=AT_ONCE), runs=0, policy=AT_ONCE)


def test_a_goodbye_without_a_claim_changes_nothing_for_those_who_come_later() -> None:
    claims = attach(release(Claims(), A), A, "x")
    assert claims == of(attached("x"))
    assert keeps_open(release(claims, A), runs=0, policy=USUAL)
    assert not keeps_open(detach(release(claims, A), A, "x", now=0, policy=USUAL), runs=0, policy=USUAL)


def test_a_hold_given_back_can_be_followed_by_a_claim_of_its_own() -> None:
    claims = release(create(Claims(), A, now=0, policy=USUAL), A)
    assert claims == Claims()
    assert release(attach(claims, A, "x"), A) == of(attached("x", released=True))


def test_the_last_of_two_clients_closes_the_workspace() -> None:
    both = attach(attach(Claims(), A, "x"), B, "y")
    without_a = detach(both, A, "x", now=0, policy=AT_ONCE)
    assert set(without_a.by_client) == {B}
    assert keeps_open(without_a, runs=0, policy=AT_ONCE)
    assert not keeps_open(detach(without_a, B, "y", now=0, policy=AT_ONCE), runs=0, policy=AT_ONCE)


def test_a_stream_lost_and_found_within_the_grace_keeps_the_workspace_open() -> None:
    lost = detach(attach(Claims(), A, "x"), A, "x", now=100, policy=USUAL)
    assert next_deadline(lost) == 110
    assert expire(lost, now=109) == lost
    found = attach(lost, A, "y")
    assert found == of(attached("y"))
    assert expire(found, now=200) == found


def test_a_create_during_the_detach_grace_gives_a_whole_create_grace() -> None:
    lost = detach(attach(Claims(), A, "x"), A, "x", now=100, policy=USUAL)
    again = create(lost, A, now=105, policy=USUAL)
    assert expire(again, now=110) == again
    assert next_deadline(again) == 135


def test_a_create_takes_a_goodbye_back_before_the_stream_ends() -> None:
    claims = create(release(attach(Claims(), A, "x"), A), A, now=100, policy=USUAL)
    assert detach(claims, A, "x", now=101, policy=USUAL) == of(held(111))


def test_the_late_end_of_a_retired_stream_does_not_touch_a_newer_one() -> None:
    claims = attach(retire(attach(Claims(), A, "old"), A), A, "new")
    assert detach(claims, A, "old", now=0, policy=AT_ONCE) == of(attached("new"))


def test_the_next_deadline_is_the_earliest_hold() -> None:
    claims = create(create(Claims(), A, now=5, policy=USUAL), B, now=3, policy=USUAL)
    assert next_deadline(claims) == 33
    assert next_deadline(expire(claims, now=33)) == 35
    assert next_deadline(Claims()) is None


def test_retiring_reaches_every_workspace_and_orphans_those_left_empty() -> None:
    streaming, holding, shared, other, running = (WorkspaceId(name) for name in ("s", "h", "b", "o", "r"))
    others = attach(Claims(), B, "y")
    workspaces = {
        streaming: attach(Claims(), A, "x"),
        holding: create(Claims(), A, now=0, policy=USUAL),
        shared: attach(others, A, "z"),
        other: others,
        running: attach(Claims(), A, "v"),
    }
    policy = Policy(runs_keep_open=True)
    left, orphans = retire_everywhere(workspaces, A, runs={running: 1}, policy=policy)
    assert left == {streaming: Claims(), holding: Claims(), shared: others, other: others, running: Claims()}
    assert orphans == (streaming, holding)
    assert retire_everywhere(left, A, runs={running: 1}, policy=policy) == (left, ())


@pytest.mark.parametrize(
    ("claims", "runs", "policy", "expected"),
    [
        (Claims(), 0, Policy(), False),
        (Claims(), 1, Policy(runs_keep_open=True), True),
        (Claims(), 1, Policy(runs_keep_open=False), False),
        (of(held(1)), 0, Policy(), True),
        (of(attached("x")), 0, Policy(), True),
    ],
)
def test_a_run_in_progress_keeps_the_workspace_open_if_so_agreed(
    claims: Claims, runs: int, policy: Policy, expected: bool
) -> None:
    assert keeps_open(claims, runs=runs, policy=policy) is expected


def test_each_client_chooses_and_leaves_a_session_for_itself() -> None:
    claims = attach(attach(Claims(), A, "x"), B, "y")
    assert (attached_clients(claims, NONE), attached_clients(claims, S)) == (2, 0)
    claims = choose(choose(claims, A, S), B, S)
    assert (attached_clients(claims, NONE), attached_clients(claims, S)) == (0, 2)
    claims = choose(choose(claims, A, T), B, NONE)
    assert [attached_clients(claims, session) for session in (NONE, S, T)] == [1, 0, 1]


def test_only_a_client_with_a_live_stream_can_choose_and_is_counted() -> None:
    holding = create(Claims(), A, now=0, policy=USUAL)
    for claims, client in ((holding, A), (holding, B), (Claims(), A)):
        with pytest.raises(ClientNotAttached, match="client not attached"):
            choose(claims, client, S)
    assert attached_clients(holding, NONE) == 0


def test_the_chosen_session_is_kept_through_the_grace_and_forgotten_with_the_claim() -> None:
    looking = choose(attach(Claims(), A, "x"), A, S)
    lost = detach(looking, A, "x", now=0, policy=USUAL)
    assert attached_clients(lost, S) == 0
    assert attached_clients(attach(lost, A, "y"), S) == 1
    assert attached_clients(attach(expire(lost, now=99), A, "y"), S) == 0
    with pytest.raises(ClientNotAttached):
        choose(detach(looking, A, "x", now=0, policy=AT_ONCE), A, S)


TOLD = st.lists(
    st.tuples(
        st.sampled_from(["create", "attach", "detach", "release", "retire", "expire", "choose"]),
        st.sampled_from([A, B]),
        st.sampled_from(["1", "2", "3"]),
        st.floats(0, 20),
    ),
    max_size=40,
)


@given(TOLD, st.sampled_from([USUAL, AT_ONCE, Policy(create_grace_seconds=1, detach_grace_seconds=2)]))
def test_whatever_is_told_a_claim_is_attached_or_held_and_ends_once_all_streams_ended(
    told: list[tuple[str, ClientId, str, float]], policy: Policy
) -> None:
    claims, now = Claims(), 0.0
    for command, client, name, later in told:
        now += later
        claims = after(claims, command, client, f"{client}{name}", now, policy)
        assert all(claim.attached == (claim.until is None) for claim in claims.by_client.values())
        assert all(claim.attached or not claim.released for claim in claims.by_client.values())
    for client, claim in claims.by_client.items():
        for stream in claim.streams:
            claims = detach(claims, client, stream, now=now, policy=policy)
    assert not keeps_open(expire(claims, now=now + 30), runs=0, policy=policy)


def after(claims: Claims, command: str, client: ClientId, stream: str, now: float, policy: Policy) -> Claims:
    claim = claims.of(client)
    match command:
        case "create":
            return create(claims, client, now=now, policy=policy)
        case "attach":
            return attach(claims, client, stream)
        case "detach":
            return detach(claims, client, stream, now=now, policy=policy)
        case "release":
            return release(claims, client)
        case "retire":
            return retire(claims, client)
        case "choose" if claim and claim.attached:
            return choose(claims, client, S)
        case _:
            return expire(claims, now=now)


def test_who_is_there_is_told_in_the_order_they_came_with_the_names_they_gave() -> None:
    claims = attach(attach(create(Claims(), A, now=0, policy=USUAL), B, "b", at=10), C, "c", at=5)
    claims = introduce(introduce(claims, ClientName(C, "carol", "cli")), ClientName(A, "alice", "terminal"))
    assert [(one.client, one.name, one.since) for one in present(claims)] == [(C, "carol", 5), (B, "", 10)]
    assert [one.name for one in present(attach(claims, A, "a", at=20))] == ["carol", "", "alice"]
    assert present(attach(claims, C, "again", at=99))[0].since == 5


def test_who_says_nothing_of_itself_stays_who_it_was_and_who_is_not_there_has_nobody_to_say_it_to() -> None:
    claims = introduce(attach(Claims(), A, "a"), ClientName(A, "alice", "terminal"))
    assert introduce(claims, ClientName(A)) is claims
    assert introduce(claims, ClientName(B, "bob")) is claims
    assert [one.kind for one in present(introduce(claims, ClientName(A, "alice", "cli")))] == ["cli"]
