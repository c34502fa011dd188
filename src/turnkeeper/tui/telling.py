"""Tells a person who looks elsewhere what is news, and the terminal what goes on in it: its title, its progress."""

from functools import partial

import anyio.to_thread

from turnkeeper.client.view import View
from turnkeeper.tui import notify
from turnkeeper.tui.host import Host
from turnkeeper.tui.live import Live
from turnkeeper.tui.side.activity import family
from turnkeeper.tui.side.sidebar import at_home


class Telling:
    """Owns what the terminal was told last."""

    def __init__(self, host: Host, live: Live) -> None:
        self._host = host
        self._live = live
        self._title = ""
        self._is_busy = False

    def heard(self, before: View, now: View, session_id: str) -> None:
        self._tell_terminal(now, session_id)
        if self._host.app_focus or before is now or not before.sessions:
            return
        for one in notify.news(before, now, family(now, session_id) if session_id else frozenset(), self._live.me):
            self.tell(one)

    def tell(self, told: notify.News) -> None:
        style = notify.style_here(self._host.settings.notifications, self._host.env)
        if style == "native":
            self._host.run_worker(partial(self._on_desktop, told), group="notifications")
        else:
            self._host.put_out(notify.sequence(style, told))

    async def _on_desktop(self, told: notify.News) -> None:
        if not await anyio.to_thread.run_sync(notify.show_on_desktop, told):
            self._host.put_out(notify.sequence("osc", told))

    def over(self) -> None:
        """Leave the terminal as it was."""
        if self._is_busy:
            self._host.put_out(notify.progress(is_busy=False))
        if self._title:
            self._host.put_out(notify.window_title(""))

    def _tell_terminal(self, view: View, session_id: str) -> None:
        session = view.sessions.get(session_id)
        name = f"{session.title} – " if session and session.title else ""
        title = f"{name}turnkeeper {at_home(self._live.workspace.opened.path)}"
        if title != self._title:
            self._title = title
            self._host.put_out(notify.window_title(title))
        is_busy = view.active(session_id) is not None
        if is_busy != self._is_busy and self._host.settings.progress and notify.knows_progress(self._host.env):
            self._is_busy = is_busy
            self._host.put_out(notify.progress(is_busy))
