"""What gives an overview of a workspace: what was said where, what it cost, and what a session waits for."""

from turnkeeper.client.asking import segment
from turnkeeper.client.place import Place
from turnkeeper.protocol.sessions import Effect
from turnkeeper.protocol.wire_overview import (
    BackupRequest,
    DatabaseReport,
    ForkRequest,
    Imported,
    ImportRequest,
    ProjectNotes,
    ProviderState,
    SearchHit,
    Statistics,
    Why,
)
from turnkeeper.protocol.wire_sessions import Session

IMPORT_SECONDS = 600.0
DATABASE_SECONDS = 600.0


class Overview:
    def __init__(self, place: Place) -> None:
        self._place = place

    async def search(self, text: str, *, limit: int = 20) -> list[SearchHit]:
        """Titles and texts that hold every word, whatever its case."""
        return await self._place.get("/search", list[SearchHit], q=text, limit=limit)

    async def project(self) -> ProjectNotes:
        """What a model is told of the project before anybody says anything."""
        return await self._place.get("/project", ProjectNotes)

    async def why(self, session_id: str) -> Why:
        """What a session waits for at this moment, since when and until when."""
        return await self._place.get(f"/sessions/{segment(session_id)}/why", Why)

    async def effects(self, session_id: str) -> list[Effect]:
        """How far each of its tool calls got, the one that moved last at the end."""
        return await self._place.get(f"/sessions/{segment(session_id)}/effects", list[Effect])

    async def statistics(self, *, since: int = 0, offset_minutes: int = 0) -> Statistics:
        """What was used since a moment (Unix milliseconds), by the days of a clock so far ahead of Greenwich's."""
        return await self._place.get("/stats", Statistics, since=since, offset=offset_minutes)

    async def providers(self) -> list[ProviderState]:
        """Every provider that is configured or known by its key, and whether it can be asked."""
        return await self._place.get("/providers/state", list[ProviderState])

    async def fork(self, session_id: str, *, message_id: str = "", title: str = "") -> Session:
        """A new session with the same past: up to and including a message, or all of it."""
        return await self._place.tell(f"/sessions/{segment(session_id)}/fork", ForkRequest(message_id, title), Session)

    async def import_crush(self, path: str = "") -> Imported:
        """Take in the conversations of the original's database: this project's, or the one at a path."""
        return await self._place.tell("/import/crush", ImportRequest(path), Imported, seconds=IMPORT_SECONDS)

    async def check_database(self) -> DatabaseReport:
        return await self._place.tell("/database/check", None, DatabaseReport, seconds=DATABASE_SECONDS)

    async def back_up_database(self, path: str = "") -> DatabaseReport:
        """Copy it as of one moment, whatever is written meanwhile."""
        said = BackupRequest(path)
        return await self._place.tell("/database/backup", said, DatabaseReport, seconds=DATABASE_SECONDS)

    async def compact_database(self) -> DatabaseReport:
        return await self._place.tell("/database/compact", None, DatabaseReport, seconds=DATABASE_SECONDS)
