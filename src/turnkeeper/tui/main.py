"""The main screen: the conversation or the landing, the line that waits, the place to write, the side, the status.

It owns which session is shown; all else is drawn from the view. What people ask for is done in `doing.py`.
"""

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.widgets import ContentSwitcher

from turnkeeper.client.events import Link
from turnkeeper.client.view import View
from turnkeeper.tui.host import host_of
from turnkeeper.tui.keymap import APP_KEYS
from turnkeeper.tui.keys import bindings
from turnkeeper.tui.live import Live
from turnkeeper.tui.side.activity import family, requests_of
from turnkeeper.tui.side.around import Around, Facts
from turnkeeper.tui.side.banner import Banner
from turnkeeper.tui.side.hints import hints_here
from turnkeeper.tui.side.landing import Landing, recent_sessions
from turnkeeper.tui.side.queue import Queue
from turnkeeper.tui.side.sidebar import Sidebar
from turnkeeper.tui.side.status import Status

WIDE_CELLS = 120
TALL_LINES = 30
LATEST = "latest"
"""The session that was changed last, where a session's id is asked for."""


class Main(Screen[None]):
    BINDINGS = bindings([key for key in APP_KEYS if key.id not in ("app.quit", "app.suspend")], "app")
    DEFAULT_CSS = """
    Main #body { height: 1fr; }
    Main #middle { width: 1fr; }
    Main #pages { height: 1fr; }
    Main Sidebar { display: none; }
    Main.-side Sidebar { display: block; }
    """

    def __init__(self, live: Live, *, session: str = "") -> None:
        super().__init__()
        self.live = live
        self.session_id = ""
        self.is_shown = False
        self.facts = Facts()
        self._asked_session = session
        self._side_wish: bool | None = None
        self._around = Around(live, self._learnt)

    @property
    def path(self) -> str:
        return self.live.workspace.opened.path

    def compose(self) -> ComposeResult:
        yield Banner(host_of(self).now)
        with Horizontal(id="body"):
            with Vertical(id="middle"):
                with ContentSwitcher(initial="landing", id="pages"):
                    yield Landing(id="landing")
                yield Queue(self.live.name_of)
            yield Sidebar()
        yield Status(host_of(self).now, lambda: hints_here(host_of(self), self))

    def on_mount(self) -> None:
        self._stop_listening = self.live.listen(self._heard)
        self.run_worker(self._around.keep(), name="around")
        self._heard(View(), self.live.view)
        self.is_shown = True

    def on_unmount(self) -> None:
        self._stop_listening()

    async def put_away(self) -> None:
        """What is to be kept is kept before the screen goes."""

    # What is known

    def _heard(self, before: View, now: View) -> None:
        self._around.heard(before, now)
        self.draw()

    def _learnt(self, facts: Facts) -> None:
        self.facts = facts
        self.draw()

    def draw(self) -> None:
        view = self.live.view
        if self.session_id:
            self.query_one(Sidebar).draw(view, self.session_id, self.facts, self.path)
        else:
            self.query_one(Landing).draw(view, self.facts, self.path, host_of(self).now())
        self.query_one(Queue).heard(view, self.session_id)
        status = self.query_one(Status)
        status.heard(view, self.session_id)
        status.yolo = view.skip
        here = set(requests_of(view, family(view, self.session_id)))
        everywhere = requests_of(view, frozenset(view.sessions))
        status.elsewhere = sum(request not in here for request in everywhere)

    def linked(self, link: Link) -> None:
        self.query_one(Banner).linked(link)

    def latest(self) -> str:
        recent = recent_sessions(self.live.view)
        return recent[0].id if recent else ""
