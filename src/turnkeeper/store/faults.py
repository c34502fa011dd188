"""Where SQLite's failures become ours: each says what a person can do about it."""

import apsw

from turnkeeper.protocol.events import Entry
from turnkeeper.protocol.problems import (
    Conflict,
    Problem,
    RequestSettled,
    RunTaken,
    StoreUnavailable,
    TooLarge,
)
from turnkeeper.store.rules import request_of

NAME = "the workspace's database"


def problem_of(error: apsw.Error) -> Problem:
    match error:
        case apsw.FullError():
            said = f"the disk is full, so {NAME} cannot be written; nothing was accepted. Make room and try again"
        case apsw.BusyError() | apsw.LockedError():
            said = f"another program keeps {NAME} locked; nothing was accepted. Close it and try again"
        case apsw.ReadOnlyError() | apsw.PermissionsError() | apsw.CantOpenError():
            said = f"{NAME} may not be written here; nothing was accepted. Check the permissions of its directory"
        case apsw.CorruptError() | apsw.NotADBError():
            said = f"{NAME} is damaged; it will be moved aside when the server opens it again"
        case _:
            said = f"{NAME} failed ({type(error).__name__}: {error}); nothing was accepted"
    return StoreUnavailable(said)


def is_damage(error: BaseException) -> bool:
    return isinstance(error, apsw.CorruptError | apsw.NotADBError)


def refusal_of(error: apsw.ConstraintError | apsw.TooBigError, entry: Entry) -> Problem:
    """What a rule that the database holds means to whoever broke it."""
    said = str(error)
    request_id = request_of(entry.event)
    if isinstance(error, apsw.TooBigError):
        return TooLarge("what was said is larger than a row of the database can be")
    if request_id is not None:
        return RequestSettled(request_id)
    if "runs.session_id" in said:
        return RunTaken(f"another run of session {entry.session_id} is active")
    if "runs." in said or "entries.run_id" in said:
        return RunTaken()
    return Conflict(f"this is there already ({said})")
