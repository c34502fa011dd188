"""What sessions saw of files and did to them, taken back and done again; and the commands they left running."""

from turnkeeper.client.asking import segment, value
from turnkeeper.client.place import Place
from turnkeeper.protocol.sessions import FileVersion
from turnkeeper.protocol.wire import unix_seconds
from turnkeeper.protocol.wire_changes import ChangeView, JobRow, RestoredView, UndoRequest
from turnkeeper.protocol.wire_overview import FileNames, JobOutput
from turnkeeper.protocol.wire_sessions import File, FileReading, file_from_wire


class Files:
    def __init__(self, place: Place) -> None:
        self._place = place

    async def history(self, session_id: str) -> list[FileVersion]:
        """Every version of every file the session changed."""
        files = await self._place.get_leniently(f"/sessions/{segment(session_id)}/history", list[File])
        return [file_from_wire(file) for file in files]

    async def seen(self, session_id: str) -> list[str]:
        """Files the session has seen, latest first."""
        return await self._place.get(f"/sessions/{segment(session_id)}/filetracker/files", list[str])

    async def note_seen(self, session_id: str, path: str) -> None:
        await self._place.post("/filetracker/read", FileReading(session_id, path), repeatable=True)

    async def last_seen(self, session_id: str, path: str) -> int:
        """When the session last saw a file, in Unix seconds; 0 for never."""
        return unix_seconds(await self._place.get("/filetracker/lastread", str, session_id=session_id, path=path))

    async def changes(self, session_id: str) -> list[ChangeView]:
        """Files that are not as the session found them."""
        return await self._place.get(f"/sessions/{segment(session_id)}/changes", list[ChangeView])

    async def names(self) -> FileNames:
        """The files of the workspace that a person may want to name; ignored and hidden ones are left out."""
        return await self._place.get("/files", FileNames)

    async def undo(self, session_id: str, which: UndoRequest | None = None) -> list[RestoredView]:
        """Take changes back: all of them, or those of one path, or back to before a run."""
        return await self._restored(session_id, "undo", which)

    async def redo(self, session_id: str, which: UndoRequest | None = None) -> list[RestoredView]:
        return await self._restored(session_id, "redo", which)

    async def _restored(self, session_id: str, what: str, which: UndoRequest | None) -> list[RestoredView]:
        rest = f"/sessions/{segment(session_id)}/{what}"
        return value(await self._place.post(rest, which or UndoRequest()), list[RestoredView])


class Jobs:
    def __init__(self, place: Place) -> None:
        self._place = place

    async def all(self) -> list[JobRow]:
        """The commands that all sessions left running."""
        return await self._place.get("/jobs", list[JobRow])

    async def list(self, session_id: str) -> list[JobRow]:
        """The commands a session left running in the background."""
        return await self._place.get(f"/sessions/{segment(session_id)}/jobs", list[JobRow])

    async def output(self, session_id: str, job_id: str, *, after: int | None = None) -> JobOutput:
        """What one has said: as much of it all as is shown, or what came after a position."""
        rest = f"/sessions/{segment(session_id)}/jobs/{segment(job_id)}/output"
        return await self._place.get(rest, JobOutput, after=after)

    async def kill(self, session_id: str, job_id: str) -> JobRow:
        """Stop one and all it started; answers when nothing of it is left."""
        rest = f"/sessions/{segment(session_id)}/jobs/{segment(job_id)}/kill"
        return await self._place.tell(rest, None, JobRow)
