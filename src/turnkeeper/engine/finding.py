"""Looking for what was said, in all conversations of a workspace."""

from collections.abc import Sequence

from turnkeeper.engine.workspace import Workspace
from turnkeeper.protocol.problems import BadRequest
from turnkeeper.protocol.sessions import SessionInfo
from turnkeeper.protocol.wire_overview import SearchHit

HITS_MAX = 200
BEFORE_CHARACTERS = 60
EXCERPT_CHARACTERS = 200


class NothingToFind(BadRequest):
    """Say what to look for."""


async def search(workspace: Workspace, text: str, *, limit: int) -> list[SearchHit]:
    """Titles and texts that hold every word; titles first, then what was said, newest first."""
    words = text.split()
    if not words:
        raise NothingToFind
    store = workspace.means.store
    found = await store.search(words, limit=min(limit, HITS_MAX))
    infos = {info.id: info for info in (await store.snapshot()).sessions}
    titled = [info for info in infos.values() if all(word.casefold() in info.title.casefold() for word in words)]
    said = [
        SearchHit(hit.session_id, infos[hit.session_id].title, hit.message_id, hit.role.value, hit.created_at, around)
        for hit in found
        if hit.session_id in infos and (around := excerpt(hit.text, words))
    ]
    return [*map(_of_title, titled), *said][:limit]


def _of_title(info: SessionInfo) -> SearchHit:
    return SearchHit(info.id, info.title, created_at=info.created_at)


def excerpt(text: str, words: Sequence[str]) -> str:
    """The line around the first of the words."""
    folded = text.casefold()
    first = min((place for word in words if (place := folded.find(word.casefold())) >= 0), default=0)
    begin = max(0, first - BEFORE_CHARACTERS)
    piece = " ".join(text[begin : begin + EXCERPT_CHARACTERS].split())
    return f"{'…' if begin else ''}{piece}{'…' if begin + EXCERPT_CHARACTERS < len(text) else ''}"
