"""The conversation on the screen: what the view tells of a session, folded into items as it changes.

It shows one session at a time, listens for itself, and reads what it needs: the conversation, and those of sub-agents
once their calls are in sight. While more comes in than can be drawn in time, it draws less often: keys come first.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Protocol

from textual.geometry import Region
from textual.strip import Strip
from textual.timer import Timer

from turnkeeper.client.view import View
from turnkeeper.tui.chat.finding import Finding
from turnkeeper.tui.chat.fold import NOTHING, Folded, fold
from turnkeeper.tui.chat.ink import Ink, Line, joined
from turnkeeper.tui.chat.items import Item, Used, Working
from turnkeeper.tui.chat.keys import KEYS
from turnkeeper.tui.host import host_of
from turnkeeper.tui.keymap import key_of
from turnkeeper.tui.keys import bindings

REST = 3.0
"""After each drawing it rests for this many times as long as that took."""
REST_SECONDS_MAX = 0.5
READS_MAX = 8
"""How many sub-agents' conversations are begun to be read at a time."""


class Source(Protocol):
    """What a transcript needs of `Live`."""

    view: View

    def listen(self, heard: Callable[[View, View], None]) -> Callable[[], None]: ...
    async def read(self, session_id: str) -> None: ...
    def forget(self, session_id: str) -> None: ...
    def name_of(self, client_id: str) -> str: ...


class Transcript(Finding):
    """Owns which session is shown, and the fold of it."""

    BINDINGS = bindings(KEYS, "chat")

    def __init__(self, live: Source, *, workdir: str = "", id: str | None = None) -> None:
        super().__init__(id=id)
        self.live = live
        self.session_id = ""
        self.folded = NOTHING
        self._workdir = workdir
        self._seen: tuple[int, Item | None] = (0, None)
        self.news = ""
        """What came since the end was in sight."""
        self._read: set[str] = set()
        self._rest_until = 0.0
        self._later: Timer | None = None
        self._stop_listening: Callable[[], None] = lambda: None

    def on_mount(self) -> None:
        self._stop_listening = self.live.listen(self._heard)

    def on_unmount(self) -> None:
        self._stop_listening()

    def show(self, session_id: str) -> None:
        """Show a session from its end; an empty id shows none."""
        for read in (*self._read, self.session_id):
            self.live.forget(read)
        self.session_id = session_id
        self.folded = Folded(session_id=session_id)
        self._read.clear()
        self._seen = (0, None)
        self.focus_key, self.follows = "", True
        self.sheet.expand_all(expanded=False)
        if not self.leave():
            self.action_bottom()
        if session_id:
            self.run_worker(partial(self.live.read, session_id), name=f"read {session_id}", group="reading")
        self.wake()

    def ink(self) -> Ink:
        answer_key = key_of("app.answer", host_of(self).settings.keys)
        ink = replace(super().ink(), name_of=self.live.name_of, clock=_clock, workdir=self._workdir)
        return replace(ink, answer_key=answer_key)

    def _heard(self, before: View, now: View) -> None:
        if not self.session_id:
            return
        if before.names is not now.names or before.clients is not now.clients:
            self.sheet.forget()
            self.redraw()
        if _concerns(before, now):
            self.catch_up()

    def catch_up(self) -> None:
        """Draw what the view tells now, or as soon as the rest after the last drawing is over."""
        wait = self._rest_until - time.monotonic()
        if wait > 0:
            if self._later is None:
                self._later = self.set_timer(wait, self.wake)
            return
        began = time.monotonic()
        self.folded = fold(self.live.view, self.session_id, self.folded)
        if self.folded.items is not self.sheet.items:
            self.put(self.folded.items)
        self._read_children()
        took = time.monotonic() - began
        self._rest_until = time.monotonic() + min(REST_SECONDS_MAX, took * REST)

    def wake(self) -> None:
        """Draw what is new at once."""
        self._later = None
        self._rest_until = 0.0
        self.catch_up()

    def _read_children(self) -> None:
        """Sub-agents whose calls are in sight are read, so that what they did is shown below them."""
        begun = 0
        for index in dict.fromkeys(index for index, _, _ in self.rows):
            item = self.sheet.items[index]
            if not isinstance(item, Used) or not item.child or item.child in self._read:
                continue
            if not self.live.view.conversation(item.child).is_whole and begun < READS_MAX:
                begun += 1
                self._read.add(item.child)
                self.run_worker(partial(self.live.read, item.child), name=f"read {item.child}", group="reading")

    # What is below

    def settle(self) -> None:
        super().settle()
        if self.follows:
            self._seen = self._said()
        news = self._news()
        if news != self.news:
            self.news = news
            self.refresh(Region(0, self.rows_high - 1, self.size.width, 1))

    def _said(self) -> tuple[int, Item | None]:
        """How many items there are, and the last one."""
        items = self.sheet.items
        count = len(items) - bool(items and isinstance(items[-1], Working))
        return count, items[count - 1] if count else None

    def _news(self) -> str:
        if self.follows:
            return ""
        count, last = self._said()
        new = count - self._seen[0]
        return f"{new} new" if new > 0 else "more" if last is not self._seen[1] else ""

    def decorated(self, y: int, strip: Strip, line: Line) -> Strip:
        strip = super().decorated(y, strip, line)
        if y != self.rows_high - 1 or not self.news or self.is_typing or self.query_text:
            return strip
        text = f" {self.sheet.ink.glyphs.down} {self.news} below, G goes there "
        note = self.made(joined((text, "banner")), self.visual_style, len(text))
        return Strip.join([strip.crop(0, strip.cell_length - len(text)), note])


def _concerns(before: View, now: View) -> bool:
    return (
        before.conversations is not now.conversations
        or before.runs is not now.runs
        or before.permissions is not now.permissions
        or before.questions is not now.questions
        or before.settled is not now.settled
        or before.sessions is not now.sessions
        or before.lines is not now.lines
    )


def _clock(at: int) -> str:
    """The time of day; with the day, if that was another."""
    then, now = time.localtime(at), time.localtime()
    return time.strftime("%H:%M" if then[:3] == now[:3] else "%d %b %H:%M", then)
