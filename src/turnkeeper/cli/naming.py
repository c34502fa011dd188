"""What people call things: a session by its id, by the beginning of its id, or as the last one."""

from typing import TYPE_CHECKING

from turnkeeper.protocol.problems import BadRequest, NotFound

if TYPE_CHECKING:
    from turnkeeper.client.workspace import WorkspaceClient
    from turnkeeper.protocol.wire_sessions import Session

LAST = "last"
ID_LETTERS = 8
"""How much of an id is shown where people read it."""
SHOWN_MAX = 5


class NoSession(NotFound):
    """There is no such session."""


class SeveralSessions(BadRequest):
    """Several sessions may be meant."""


async def session_named(workspace: "WorkspaceClient", said: str) -> "Session":
    """The one session that is meant; `last` is the one that changed last."""
    known = await workspace.sessions.list()
    if said == LAST and known:
        return known[0]
    if "$$" in said:  # a sub-agent's, which no list has
        return await workspace.sessions.get(said)
    meant = [one for one in known if one.id == said] or [one for one in known if one.id.startswith(said.lower())]
    if not meant or not said:
        raise NoSession(f"there is no session {said!r}; 'turnkeeper sessions list' lists them")
    if len(meant) > 1:
        shown = ", ".join(f"{one.id[:ID_LETTERS]} ({one.title})" for one in meant[:SHOWN_MAX])
        raise SeveralSessions(f"{said!r} may be {shown}{', …' if len(meant) > SHOWN_MAX else ''}: say more of its id")
    return meant[0]


def short(id: str) -> str:
    return id[:ID_LETTERS] if "$$" not in id else id
