"""Who keeps a workspace open, and until when.

A claim is a client that is attached by at least one stream, or that may still come (a hold). It is never both and
never neither: `until` is set exactly while there is no stream. Streams have names, so that the late end of a stream
that no longer counts changes nothing. Time is passed in, in seconds of any one clock.

| told | no claim | a hold | attached |
|---|---|---|---|
| create | hold (create grace) | the hold anew, not released | not released |
| attach | attached | attached | one stream more |
| detach | nothing | nothing | one stream less; at the last: hold (detach grace), or gone if released |
| release | nothing | gone | released: the last stream's end ends it |
| retire | nothing | gone | gone, whatever streams it has |
| expire | nothing | gone, if its time has come | nothing |
"""

from collections.abc import Mapping

import msgspec

from turnkeeper.protocol.clients import ClientName
from turnkeeper.protocol.ids import ClientId, SessionId, WorkspaceId
from turnkeeper.protocol.problems import ClientNotAttached

CREATE_GRACE_SECONDS = 30.0
DETACH_GRACE_SECONDS = 10.0
NO_SESSION = SessionId("")


class Policy(msgspec.Struct, frozen=True):
    """How long nobody may be there."""

    create_grace_seconds: float = CREATE_GRACE_SECONDS
    detach_grace_seconds: float = DETACH_GRACE_SECONDS
    """0: the last stream's end is the end."""
    runs_keep_open: bool = True
    """Whether a run in progress keeps the workspace open although nobody is attached."""


class Claim(msgspec.Struct, frozen=True):
    client: ClientId
    streams: frozenset[str] = frozenset()
    until: float | None = None
    """When the hold runs out; None while a stream is attached."""
    session: SessionId = NO_SESSION
    """The session this client is looking at."""
    released: bool = False
    """It has said goodbye; only its streams still keep it."""
    since: int = 0
    """When its first stream came, Unix milliseconds: for people to read."""
    name: str = ""
    kind: str = ""
    """Who it says it is, to those it shares the workspace with."""

    @property
    def attached(self) -> bool:
        return bool(self.streams)


class Claims(msgspec.Struct, frozen=True):
    """All claims of one workspace."""

    by_client: Mapping[ClientId, Claim] = {}

    def of(self, client: ClientId) -> Claim | None:
        return self.by_client.get(client)


def create(claims: Claims, client: ClientId, *, now: float, policy: Policy) -> Claims:
    claim = claims.of(client) or Claim(client)
    until = None if claim.attached else now + policy.create_grace_seconds
    return put(claims, msgspec.structs.replace(claim, until=until, released=False))


def attach(claims: Claims, client: ClientId, stream: str, *, at: int = 0) -> Claims:
    claim = claims.of(client) or Claim(client)
    since = claim.since if claim.attached else at
    return put(claims, msgspec.structs.replace(claim, streams=claim.streams | {stream}, until=None, since=since))


def introduce(claims: Claims, who: ClientName) -> Claims:
    """A client says who it is. One that says nothing is still who it was."""
    claim = claims.of(who.client_id)
    if claim is None or not (who.name or who.kind) or (claim.name, claim.kind) == (who.name, who.kind):
        return claims
    return put(claims, msgspec.structs.replace(claim, name=who.name, kind=who.kind))


def detach(claims: Claims, client: ClientId, stream: str, *, now: float, policy: Policy) -> Claims:
    claim = claims.of(client)
    if claim is None or stream not in claim.streams:
        return claims
    left = msgspec.structs.replace(claim, streams=claim.streams - {stream})
    if left.attached:
        return put(claims, left)
    if claim.released or policy.detach_grace_seconds <= 0:
        return retire(claims, client)
    return put(claims, msgspec.structs.replace(left, until=now + policy.detach_grace_seconds))


def release(claims: Claims, client: ClientId) -> Claims:
    claim = claims.of(client)
    if claim is None:
        return claims
    if not claim.attached:
        return retire(claims, client)
    return put(claims, msgspec.structs.replace(claim, released=True))


def retire(claims: Claims, client: ClientId) -> Claims:
    """Also what the client was looking at is forgotten."""
    return Claims({known: claim for known, claim in claims.by_client.items() if known != client})


def retire_everywhere(
    workspaces: Mapping[WorkspaceId, Claims], client: ClientId, *, runs: Mapping[WorkspaceId, int], policy: Policy
) -> tuple[Mapping[WorkspaceId, Claims], tuple[WorkspaceId, ...]]:
    """The claims of every workspace without this client, and the workspaces that nothing keeps open any more."""
    left = {workspace: retire(claims, client) for workspace, claims in workspaces.items()}
    orphans = [
        workspace
        for workspace, claims in left.items()
        if claims != workspaces[workspace] and not keeps_open(claims, runs=runs.get(workspace, 0), policy=policy)
    ]
    return left, tuple(orphans)


def expire(claims: Claims, *, now: float) -> Claims:
    """Without the holds whose time has come. A hold that was renewed or attached has none that could."""
    return Claims(
        {client: claim for client, claim in claims.by_client.items() if claim.until is None or claim.until > now}
    )


def next_deadline(claims: Claims) -> float | None:
    """When `expire` next changes anything; None: not by itself."""
    return min((claim.until for claim in claims.by_client.values() if claim.until is not None), default=None)


def keeps_open(claims: Claims, *, runs: int, policy: Policy) -> bool:
    """Whether anything keeps the workspace open: a claim, or (if it may) one of `runs` accepted and not ended."""
    return bool(claims.by_client) or (policy.runs_keep_open and runs > 0)


def choose(claims: Claims, client: ClientId, session: SessionId) -> Claims:
    """The client looks at this session (none: at no session). Raises `ClientNotAttached` without a live stream."""
    claim = claims.of(client)
    if claim is None or not claim.attached:
        raise ClientNotAttached
    return put(claims, msgspec.structs.replace(claim, session=session))


def present(claims: Claims) -> tuple[Claim, ...]:
    """Who is there now, in the order they came."""
    return tuple(sorted(filter(lambda claim: claim.attached, claims.by_client.values()), key=lambda one: one.since))


def attached_clients(claims: Claims, session: SessionId) -> int:
    """How many clients look at a session now. Who is only held for is not there."""
    return sum(claim.attached and claim.session == session for claim in claims.by_client.values())


def put(claims: Claims, claim: Claim) -> Claims:
    assert claim.attached == (claim.until is None), claim
    return Claims({**claims.by_client, claim.client: claim})
