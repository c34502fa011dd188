"""The main screen: the conversation or the landing, the line that waits, the place to write, the side, the status.

It owns which session is shown, and draws the rest from the view. What people ask for is done in `doing.py`, what they
call by name in `calling.py`.
"""

from collections.abc import Sequence
from functools import partial, partialmethod

import anyio
from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.events import Mount, Resize, ScreenResume, Unmount
from textual.message import Message
from textual.screen import Screen
from textual.widgets import ContentSwitcher

from turnkeeper.client.events import Link
from turnkeeper.client.view import View
from turnkeeper.protocol.runs import Attachment
from turnkeeper.tui.calling import Calling
from turnkeeper.tui.chat.transcript import Transcript
from turnkeeper.tui.doing import Doing
from turnkeeper.tui.editor.composer import Composer
from turnkeeper.tui.host import host_of
from turnkeeper.tui.keymap import SCREEN_KEYS, key_of
from turnkeeper.tui.keys import bindings
from turnkeeper.tui.live import Live
from turnkeeper.tui.side.activity import family, requests_of, waiting_elsewhere
from turnkeeper.tui.side.around import Around, Facts
from turnkeeper.tui.side.banner import Banner
from turnkeeper.tui.side.header import Header
from turnkeeper.tui.side.hints import hints_here
from turnkeeper.tui.side.landing import Landing, recent_sessions
from turnkeeper.tui.side.queue import Queue
from turnkeeper.tui.side.sidebar import Sidebar
from turnkeeper.tui.side.status import Status
from turnkeeper.tui.telling import Telling

WIDE_CELLS = 120
TALL_LINES = 30
ESC_SECONDS = 2.0
LATEST = "latest"
"""The session that was changed last, where a session's id is asked for."""


class Main(Screen[None]):
    BINDINGS = bindings(SCREEN_KEYS)
    DEFAULT_CSS = """
    Main #body { height: 1fr; }
    Main #middle { width: 1fr; }
    Main #pages { height: 1fr; }
    Main Sidebar { display: none; }
    Main.-side Sidebar { display: block; }
    """

    class SettingsMoved(Message):
        """The settings may be others now."""

    def __init__(self, live: Live, *, session: str = "") -> None:
        super().__init__()
        self.live = live
        self.session_id = ""
        self.is_shown = False
        self.following = ""
        """Whose sessions are shown as they go from one to the next; empty for nobody's."""
        self.facts = Facts()
        self.side_wish: bool | None = None
        """Whether somebody wants the side, or wants it not; None leaves it to the room there is."""
        self._asked_session = session
        self._around = Around(live, self._learnt)
        self._put_aside: frozenset[str] = frozenset()
        self._armed = False
        self._sending = anyio.Lock()

    @property
    def path(self) -> str:
        return self.live.workspace.opened.path

    def compose(self) -> ComposeResult:
        host = host_of(self)
        # Kept by name: what is heard while the screen goes still finds them.
        self.banner, self.header, self.landing = Banner(host.now), Header(), Landing(id="landing")
        self.transcript = Transcript(self.live, workdir=self.path, id="transcript")
        self.queue, self.composer = Queue(self.live.name_of), Composer(self.live)
        self.sidebar, self.status = Sidebar(), Status(host.now, lambda: hints_here(host, self))
        yield self.banner
        with Horizontal(id="body"):
            with Vertical(id="middle"):
                yield self.header
                with ContentSwitcher(initial="landing", id="pages"):
                    yield self.landing
                    yield self.transcript
                yield self.queue
                yield self.composer
            yield self.sidebar
        yield self.status

    @on(Mount)
    def _mounted(self) -> None:
        self._telling = Telling(host_of(self), self.live)
        self.doing = Doing(self.live, host_of(self), self._give_back)
        self._calling = Calling(self)
        self._stop_listening = self.live.listen(self._heard)
        self.bindings_updated_signal.subscribe(self.status, self._hint)
        self.run_worker(self._around.keep, name="around")
        self.run_worker(self._first, name="first session")
        self.is_shown = True
        self.linked(self.live.link)

    def _hint(self, _: Screen[None]) -> None:
        self.status.refresh()

    @on(Unmount)
    def _unmounted(self) -> None:
        self.is_shown = False
        self._stop_listening()

    async def put_away(self) -> None:
        """What is to be kept is kept before the screen goes; it draws no more."""
        self._stop_listening()
        self._telling.over()
        await self.composer.put_away()

    async def _first(self) -> None:
        wanted, view = self._asked_session, self.live.view
        if wanted == LATEST:
            recent = recent_sessions(view)
            await self.open(recent[0].id if recent else "")
            return
        meant = [id for id in view.sessions if wanted and id.startswith(wanted)]
        if wanted and len(meant) != 1:
            several = "Several sessions begin" if meant else "No session begins"
            host_of(self).say(f"{several} with {wanted}; ctrl+s lists them.", severity="warning")
        await self.open(meant[0] if len(meant) == 1 else "")

    # Sessions

    async def open(self, session_id: str, *, following: str = "") -> None:
        """Show a session; the landing, where none is named. Whoever opens one follows nobody any more."""
        self.session_id, self.following = session_id, following
        self._around.show(session_id)
        composer = self.composer
        composer.session_id = session_id
        self.query_one(ContentSwitcher).current = "transcript" if session_id else "landing"
        self.transcript.show(session_id)
        self.draw()
        composer.focus()
        await self.live.attempt(self.live.workspace.select(session_id), "say which session this looks at")

    async def follow(self, client_id: str) -> None:
        """Show what this client looks at, now and whenever that changes."""
        client = self.live.view.clients.get(client_id)
        if client is not None:
            await self.open(client.session_id, following=client_id)

    def _follow_on(self, view: View) -> None:
        client = view.clients.get(self.following)
        if client is None:
            host_of(self).say(f"{self.live.name_of(self.following)} has left.")
            self.following = ""
        elif client.session_id and client.session_id != self.session_id:
            self.run_worker(partial(self.open, client.session_id, following=self.following), group="following")

    async def _open_new(self) -> str:
        session_id = await self.doing.begin()
        if session_id:
            await self.open(session_id)
        return session_id

    # What is known

    def _heard(self, before: View, now: View) -> None:
        self._around.heard(before, now)
        self._telling.heard(before, now, self.session_id)
        if self.session_id and self.session_id in before.sessions and self.session_id not in now.sessions:
            host_of(self).say("This session was deleted.", severity="warning")
            self.run_worker(partial(self.open, ""))
            return
        if before.config_revision != now.config_revision:
            self.post_message(self.SettingsMoved())
        if self.following and before.clients is not now.clients:
            self._follow_on(now)
        self.draw()
        self.ask_next()

    def _learnt(self, facts: Facts) -> None:
        self.facts = facts
        self.draw()

    def draw(self) -> None:
        if not self.is_shown or not self.is_attached:
            return
        view = self.live.view
        if self.session_id:
            self.sidebar.draw(view, self.session_id, self.facts, path=self.path, me=self.live.me)
            self.header.draw(view, self.session_id, self.facts, me=self.live.me)
        else:
            self.landing.draw(view, self.facts, path=self.path, me=self.live.me, now=host_of(self).now())
        self._lay_out()
        self.queue.heard(view, self.session_id)
        status = self.status
        status.heard(view, self.session_id)
        status.yolo = view.skip
        status.answer_key = key_of("app.answer", host_of(self).settings.keys)
        status.following = self.live.name_of(self.following) if self.following else ""
        here = set(requests_of(view, family(view, self.session_id)))
        status.elsewhere = sum(request not in here for request in requests_of(view, frozenset(view.sessions)))

    def linked(self, link: Link) -> None:
        """How the link to the server is now."""
        if not self.is_shown or not self.is_attached:
            return
        self.banner.linked(link)
        self.composer.link = link

    @on(Resize)
    def _lay_out(self) -> None:
        roomy = self.size.width >= WIDE_CELLS and self.size.height >= TALL_LINES
        wish = roomy and not host_of(self).settings.compact if self.side_wish is None else self.side_wish
        self.set_class(bool(self.session_id) and wish, "-side")
        self.header.display = bool(self.session_id) and not wish

    # What is asked of people

    @on(ScreenResume)
    def ask_next(self) -> None:
        """Show what waits for an answer here, one after another; also what came while something stood over it."""
        if self.app.screen is not self:
            return
        waiting = requests_of(self.live.view, family(self.live.view, self.session_id))
        self._put_aside &= frozenset(waiting)
        for id in waiting:
            if id not in self._put_aside:
                self.app.push_screen(self._calling.request(id), partial(self._asked, id))
                return

    def show_waiting(self) -> None:
        """Bring back what was put aside; where nothing waits here, go to where something does."""
        self._put_aside = frozenset()
        view = self.live.view
        if requests_of(view, family(view, self.session_id)):
            self.ask_next()
        elif elsewhere := waiting_elsewhere(view):
            self.run_worker(partial(self.open, elsewhere))
        else:
            host_of(self).say("Nothing waits for an answer.")

    def _asked(self, request_id: str, _: object) -> None:
        """A dialog was closed; what still waits is not pushed at somebody who put it aside."""
        view = self.live.view
        if request_id in view.permissions or request_id in view.questions:
            self._put_aside |= {request_id}
        self.ask_next()

    # What people ask for

    @on(Landing.Opened)
    async def _opened(self, event: Landing.Opened) -> None:
        await self.open(event.session_id)

    @on(Transcript.Copied)
    def _copied(self, event: Transcript.Copied) -> None:
        self.app.copy_to_clipboard(event.text)
        host_of(self).say("Copied.")

    @on(Composer.Sent)
    async def _sent(self, event: Composer.Sent) -> None:
        self.run_worker(partial(self.send, event.text, event.attachments, self.session_id), group="sending")

    async def send(self, text: str, attachments: Sequence[Attachment] = (), to: str = "") -> None:
        """One after another: prompts sent at once are in line as they were sent, and a new session is begun once."""
        async with self._sending:
            if session_id := to or self.session_id or await self._open_new():
                await self.doing.submit(session_id, text, attachments)
            else:
                self._give_back(text, attachments)

    @on(Composer.Shell)
    async def _shell(self, event: Composer.Shell) -> None:
        self.run_worker(partial(self._run_shell, event.command), group="shell")

    async def _run_shell(self, command: str) -> None:
        async with self._sending:
            session_id = self.session_id or await self._open_new()
        if session_id:
            await self.doing.shell(session_id, command, self.composer.size.width)

    @on(Composer.Wanted)
    async def _wanted(self, event: Composer.Wanted) -> None:
        self.run_worker(partial(self._calling.call, event.command), group="calling")

    @on(Composer.Cancel)
    @on(Transcript.Left)
    def _cancelled(self) -> None:
        """The first esc arms, the second stops."""
        if not self.live.view.is_going_on(self.session_id):
            return
        if self._armed:
            self._disarm()
            self.run_worker(partial(self.doing.stop, self.session_id), group="stopping")
            return
        self._armed = self.status.armed = True
        self.set_timer(ESC_SECONDS, self._disarm)

    def _disarm(self) -> None:
        self._armed = self.status.armed = False

    def _give_back(self, text: str, attachments: Sequence[Attachment]) -> None:
        self.composer.put(text, attachments)

    @on(Queue.Asked)
    async def _about_the_line(self, event: Queue.Asked) -> None:
        match event.what:
            case "edit":
                self._calling.edit(event.run)
            case "move":
                await self.doing.move(event.run, event.place)
            case "now":
                await self.doing.send_now(event.run)
            case "remove":
                await self.doing.take_out(event.run)
            case _:
                await self.doing.release(self.session_id)

    @on(Queue.Left)
    def _left_the_line(self) -> None:
        self.composer.focus()

    # Keys: each is a command of the table

    def _call(self, name: str) -> None:
        self.run_worker(partial(self._calling.call, name), group="calling")

    action_help = partialmethod(_call, "help")
    action_palette = partialmethod(_call, "palette")
    action_sessions = partialmethod(_call, "sessions")
    action_models = partialmethod(_call, "models")
    action_new = partialmethod(_call, "new")
    action_yolo = partialmethod(_call, "yolo twice")
    action_switch = partialmethod(_call, "switch")
    action_queue = partialmethod(_call, "queue")
    action_sidebar = partialmethod(_call, "sidebar")
    action_answer = partialmethod(_call, "answer")
