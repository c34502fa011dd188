"""Writing down what became of a file: each version follows the last, also when two of one session write at once."""

from collections.abc import Awaitable, Callable, Sequence

from turnkeeper.core.file_history import Content
from turnkeeper.engine.means import Means
from turnkeeper.protocol import events as e
from turnkeeper.protocol.ids import RunId, SessionId
from turnkeeper.protocol.problems import Conflict
from turnkeeper.protocol.sessions import FileVersion

TRIES_MAX = 5
"""A person takes back what a run is about to change: one of them finds that its number is taken."""

Say = Callable[..., Awaitable[None]]


async def record(
    means: Means,
    say: Say,
    session_id: SessionId,
    path: str,
    contents: Callable[[FileVersion | None], Sequence[Content]],
    *,
    run_id: RunId | None = None,
    name: Callable[[str], str] = str,
    beside: Sequence[e.Fact] = (),
    last: FileVersion | None = None,
    form: str = "",
) -> FileVersion | None:
    """Say these facts and, with them, what follows the file's last version: `contents` is told which that is.

    `name` makes a version's id of a unique one; `last` is the last version if it is known. Returns the one that now is.
    """
    for attempt in range(1, TRIES_MAX + 1):
        last = last or await newest(means, session_id, path)
        number = last.version + 1 if last else 0
        seconds = means.now() // 1000
        versions = [
            FileVersion(
                id=name(means.new_id()),
                session_id=session_id,
                path=path,
                content=content or "",
                version=number + step,
                created_at=seconds,
                updated_at=seconds,
                run_id=run_id,
                absent=content is None,
                form=form,
            )
            for step, content in enumerate(contents(last))
        ]
        try:
            if versions or beside:
                await say(*beside, *map(e.FileSaid, versions))
            return versions[-1] if versions else last
        except Conflict:
            if attempt == TRIES_MAX:
                raise
            last = None
    return None


async def newest(means: Means, session_id: SessionId, path: str) -> FileVersion | None:
    return next(iter(await means.store.files(session_id, newest_of=path)), None)
