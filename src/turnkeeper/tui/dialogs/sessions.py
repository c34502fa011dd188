"""Sessions: find one by its title or by what was said in it; open, rename, fork, export, delete."""

from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any

import anyio
from textual.content import Content
from textual.widgets import Input

from turnkeeper.client.view import View
from turnkeeper.protocol.wire_overview import SearchHit
from turnkeeper.protocol.wire_sessions import Session
from turnkeeper.tui.chat.ink import one_line
from turnkeeper.tui.dialogs.asking import quoted
from turnkeeper.tui.dialogs.confirm import ConfirmDialog
from turnkeeper.tui.dialogs.filtered import Filtered, Row
from turnkeeper.tui.dialogs.keys import KEYS
from turnkeeper.tui.dialogs.line import Export, Rename
from turnkeeper.tui.glyphs import Glyphs
from turnkeeper.tui.keys import bindings
from turnkeeper.tui.live import Live
from turnkeeper.tui.side.activity import activity, ago, money
from turnkeeper.tui.side.landing import recent_sessions
from turnkeeper.tui.wishes import Open

HITS_MAX = 50
SEARCHED = "Titles, prompts and answers are searched; what tools put out is not."
PATIENCE_SECONDS = 0.15
"""What is typed quickly is searched for once."""


class Sessions(Filtered):
    """Owns whether titles or conversations are searched, and what was found in those."""

    BINDINGS = bindings(KEYS, "sessions")
    PLACEHOLDER = "Type to find a session"
    NOTHING = "There are no sessions here yet."

    def __init__(self, live: Live, session_id: str = "") -> None:
        super().__init__(live)
        self._here = session_id
        self._hits: Sequence[SearchHit] | None = None

    def draw(self, view: View) -> None:
        everywhere = self._hits is not None
        self.entitle("Search in all conversations" if everywhere else "Sessions", f"{len(recent_sessions(view))}")
        super().draw(view)

    def rows(self, view: View) -> Sequence[Row]:
        now, glyphs = self.host.now(), self.host.glyphs
        if self._hits is not None:
            return [hit_row(number, hit, now, self.typed) for number, hit in enumerate(self._hits)]
        return [
            session_row(view, one, now, glyphs, self.live, is_here=one.id == self._here)
            for one in recent_sessions(view)
        ]

    def nothing(self, typed: str) -> str:
        if self._hits is None:
            return super().nothing(typed)
        if not typed:
            return SEARCHED
        return f"Nothing is called “{typed}”, and nobody said it. {SEARCHED}"

    @property
    def typed(self) -> str:
        return self._filter.value.strip()

    @property
    def session(self) -> Session | None:
        """The one that is highlighted, or in which the highlighted words were said."""
        row = self.marked
        if row is None:
            return None
        hits = self._hits
        return self.live.view.sessions.get(row.id if hits is None else hits[int(row.id)].session_id)

    def taken(self, row: Row) -> None:
        del row
        if self.session is not None:
            self.leave(Open(self.session.id))

    def on_input_changed(self, event: Input.Changed) -> None:
        if self._hits is not None:
            self.run_worker(partial(self._search, event.value), name="search", group="search", exclusive=True)

    async def _search(self, text: str) -> None:
        await anyio.sleep(PATIENCE_SECONDS)
        hits: list[SearchHit] | None = []
        if text.strip():
            hits = await self.live.attempt(self.live.workspace.overview.search(text, limit=HITS_MAX), "search")
        if self._hits is not None:
            self._hits = hits or []
            self.draw(self.live.view)

    def action_search(self) -> None:
        self._hits = [] if self._hits is None else None
        self._filter.placeholder = self.PLACEHOLDER if self._hits is None else "Words that were said"
        self.draw(self.live.view)
        if self._hits is not None:
            self.run_worker(partial(self._search, self.typed), name="search", group="search", exclusive=True)

    # What is done with one

    def action_rename(self) -> None:
        if (session := self.session) is not None:
            self.app.push_screen(Rename(self.live, session.id))

    def action_delete(self) -> None:
        if (session := self.session) is not None:
            working = " A run is at work in it, which is stopped." if session.is_busy else ""
            about = f"{session.message_count} messages are lost.{working} Files stay as they are."
            self.app.push_screen(
                ConfirmDialog(
                    self.live,
                    f"Delete {quoted(session.title) or 'this session'}?",
                    about,
                    yes="Delete",
                    done=lambda: self._begin(partial(self._delete, session.id)),
                )
            )

    def action_fork(self) -> None:
        if (session := self.session) is not None:
            self._begin(partial(self._fork, session.id))

    def action_export(self) -> None:
        if (session := self.session) is not None:
            self.app.push_screen(Export(self.live, session.id))

    def _begin(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Beside the dialog, and to its end also when that closes."""
        self.host.run_worker(work, name="sessions", group="sessions")

    async def _delete(self, session_id: str) -> None:
        await self.live.attempt(self.live.workspace.sessions.delete(session_id), "delete the session")

    async def _fork(self, session_id: str) -> None:
        copy = await self.live.attempt(self.live.workspace.overview.fork(session_id), "fork the session")
        if copy is not None:
            self.leave(Open(copy.id))


def session_row(view: View, session: Session, now: float, glyphs: Glyphs, live: Live, *, is_here: bool = False) -> Row:
    """Whether it works or waits for somebody, its title, when, for how much, and who else looks at it."""
    doing = activity(view, session.id)
    sign = glyphs.waiting if doing.needs_person else glyphs.running if session.is_busy else " "
    others = [live.name_of(one.client_id) for one in view.watching(session.id) if one.client_id != live.me]
    beside = [
        "open here" if is_here else "",
        ago(now - session.updated_at) if session.updated_at else "",
        money(float(session.cost)) if session.cost else "",
        "needs you" if doing.needs_person else doing.word,
        f"with {', '.join(others)}" if others else "",
    ]
    title = one_line(session.title) or "Untitled"
    muted = Content.styled("  " + "  ".join(part for part in beside if part), "$foreground-muted")
    return Row(session.id, Content.assemble((sign, "$text-warning" if doing.needs_person else "$text-primary"), " ",
                                            title, muted), title)  # fmt: skip


def hit_row(number: int, hit: SearchHit, now: float, typed: str) -> Row:
    """Where it was said, when, and by whom; every hit fits what is typed, for it was searched for."""
    when = f"  {ago(now - hit.created_at)}" if hit.created_at else ""
    head = Content.assemble((one_line(hit.title) or "Untitled", "bold"), (f"  {hit.role}{when}", "$foreground-muted"))
    said = one_line(hit.excerpt)
    return Row(
        str(number), Content("\n").join([head, Content(said)]) if said else head, f"{typed} {said}".strip() or "-"
    )
