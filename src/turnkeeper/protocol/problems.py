"""What can go wrong, named for the situation; each docstring is the sentence a person is told.

A problem carries what its catcher needs. `status` is what HTTP makes of it; nothing below the door looks at it.
"""

from turnkeeper.protocol.ids import Position, RequestId, RunId, SessionId


class Problem(Exception):
    """Something went wrong."""

    status = 500

    def __init__(self, message: str = "") -> None:
        super().__init__(message or (type(self).__doc__ or "").strip().splitlines()[0])

    @property
    def message(self) -> str:
        return str(self)


class BadRequest(Problem):
    """The request cannot be understood."""

    status = 400


class PromptEmpty(BadRequest):
    """prompt is empty"""


class SessionMissing(BadRequest):
    """session id is missing"""


class AgentMissing(BadRequest):
    """agent coordinator not initialized"""


class NotFound(Problem):
    """There is no such thing."""

    status = 404


class WorkspaceNotFound(NotFound):
    """workspace not found"""


class SessionNotFound(NotFound):
    """session not found"""

    def __init__(self, session_id: SessionId) -> None:
        super().__init__(f"session not found: {session_id}")
        self.session_id = session_id


class RunNotFound(NotFound):
    """run not found"""

    def __init__(self, run_id: RunId) -> None:
        super().__init__(f"run not found: {run_id}")
        self.run_id = run_id


class Conflict(Problem):
    """The request does not fit what is so."""

    status = 409


class RunIdConflict(Conflict):
    """This run id was already used for another prompt."""

    def __init__(self, run_id: RunId) -> None:
        super().__init__(f"run id {run_id} was already used for another prompt; use a new one")
        self.run_id = run_id


class SessionTaken(Conflict):
    """A session with this id exists, or existed."""

    def __init__(self, session_id: SessionId) -> None:
        super().__init__(f"the session id {session_id} was already used")
        self.session_id = session_id


class RunNotQueued(Conflict):
    """The prompt is no longer waiting, so it can no longer be changed."""

    def __init__(self, run_id: RunId) -> None:
        super().__init__(f"run {run_id} is not waiting in the queue; only a waiting prompt can be changed")
        self.run_id = run_id


class TermsDiffer(Conflict):
    """The prompt has terms of its own, which the run that goes on does not have; it runs when its turn comes."""

    def __init__(self, run_id: RunId) -> None:
        super().__init__(
            f"run {run_id} was given a model, rules or limits of its own, which the run that goes on does not have; "
            "it waits for its turn"
        )
        self.run_id = run_id


class SessionBusy(Conflict):
    """session is currently processing another request"""


class WorkspaceClosing(Conflict):
    """workspace closing"""


class ServerClosing(Problem):
    """server is shutting down"""

    status = 503


class ServerHosting(Conflict):
    """server is hosting live workspaces"""


class ClientRetired(Conflict):
    """client has been retired"""


class ClientNotAttached(Conflict):
    """client not attached"""


class ChannelsDiffer(Conflict):
    """The workspace is already open with other channels."""

    def __init__(self) -> None:
        super().__init__(
            "requested channels differ from the existing workspace; channels are an explicit opt-in "
            "and are not shared across duplicate creates"
        )


class QueueFull(Problem):
    """The session's queue is full."""

    status = 429

    def __init__(self, queue_max: int) -> None:
        waiting = "one prompt is" if queue_max == 1 else f"{queue_max} prompts are"
        super().__init__(f"{waiting} already waiting in this session; wait for one to finish or remove one")
        self.queue_max = queue_max


class TooLarge(Problem):
    """The body is too large."""

    status = 413


class RequestSettled(Conflict):
    """Somebody else has already answered."""

    def __init__(self, request_id: RequestId) -> None:
        super().__init__(f"request {request_id} is already settled")
        self.request_id = request_id


class StoreUnavailable(Problem):
    """The workspace's database cannot be written; nothing was accepted."""

    status = 503


class StoreReadOnly(StoreUnavailable):
    """The workspace's database was written by a newer version; it can be read, not written."""


class StoreGone(StoreUnavailable):
    """The workspace's database was removed or replaced while it was open; nothing was accepted."""


class StoreElsewhere(Conflict):
    """Another server has this workspace open."""

    def __init__(self, message: str, *, address: str = "", pid: int = 0) -> None:
        super().__init__(message)
        self.address = address
        self.pid = pid


class SessionMoved(Conflict):
    """The session's log has moved on: another server owns it now."""

    def __init__(self, session_id: SessionId, *, expected: Position, found: Position) -> None:
        super().__init__(f"the log of session {session_id} ends at {found}, not at {expected}: another server owns it")
        self.session_id = session_id
        self.expected = expected
        self.found = found


class RunTaken(Conflict):
    """A run with this id exists, or has already ended."""
