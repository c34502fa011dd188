"""The one thing that must be true of every store at every moment: its views are its log, folded."""

from typing import Any

from turnkeeper.protocol.events import Entry
from turnkeeper.protocol.ids import START, SessionId
from turnkeeper.store.memory import MemoryStore
from turnkeeper.store.store import Store


async def views_equal_replay(store: Store) -> None:
    """Fold the log again from its beginning, and compare everything that can be asked."""
    assert await store.kept_after() == START, "a log whose beginning was forgotten cannot be folded again"
    replayed = MemoryStore()
    entries = await whole_log(store)
    replayed.put_back(entries)
    names = {entry.session_id for entry in entries}
    for name in names:
        await replayed.write_behind(await store.pieces(name))
    assert await seen(store, names) == await seen(replayed, names)


async def whole_log(store: Store) -> list[Entry]:
    entries: list[Entry] = []
    while more := await store.read(entries[-1].position if entries else START):
        entries += more
    return entries


async def seen(store: Store, names: set[SessionId]) -> dict[str, Any]:
    """All that a store tells of itself."""
    everything: dict[str, Any] = {
        "head": await store.head(),
        "snapshot": await store.snapshot(),
        "unsettled": await store.unsettled(),
        "sessions": await store.sessions(),
        "user messages": await store.user_messages(),
        "runs": await store.runs(),
        "settled": await store.settled(),
        "grants": await store.grants(),
    }
    for name in names:
        everything[name] = {
            "session": await store.session(name),
            "children": await store.sessions(parent=name),
            "standing": await store.standing(name),
            "messages": await store.messages(name),
            "user messages": await store.user_messages(name),
            "unfinished": await store.unfinished(name),
            "runs": await store.runs(name),
            "files": await store.files(name),
            "file reads": await store.file_reads(name),
            "effects": await store.effects(name),
        }
    return everything
