"""A conversation on a stage of its own: the transcript in a small application, in front of a view made by hand."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from textual.app import ComposeResult
from textual.pilot import Pilot

from tests.tui.scene import screen_text
from turnkeeper.client.view import View
from turnkeeper.tui import themes
from turnkeeper.tui.chat.opening import Opening
from turnkeeper.tui.chat.transcript import Transcript
from turnkeeper.tui.host import Host

HERE = "s1"


@dataclass
class Still:
    """A view that changes when it is told to."""

    view: View = field(default_factory=View)
    names: dict[str, str] = field(default_factory=lambda: {"": "somebody", "me": "you"})
    reads: list[str] = field(default_factory=list[str])
    listeners: list[Callable[[View, View], None]] = field(default_factory=list[Callable[[View, View], None]])

    def listen(self, heard: Callable[[View, View], None]) -> Callable[[], None]:
        self.listeners.append(heard)
        return lambda: self.listeners.remove(heard)

    async def read(self, session_id: str) -> None:
        self.reads.append(session_id)

    def forget(self, session_id: str) -> None:
        pass

    def name_of(self, client_id: str) -> str:
        return self.names.get(client_id, client_id)

    def become(self, view: View) -> None:
        before, self.view = self.view, view
        for heard in tuple(self.listeners):
            heard(before, view)


class Reading(Host):
    CSS = "Screen { background: $background; }"
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, live: Still, *, theme: str, plain: bool, lang: str) -> None:
        env = {"LANG": lang, "TERM": "xterm-256color"} | ({"TURNKEEPER_PLAIN": "1"} if plain else {})
        super().__init__(env=env, now=lambda: 0.0)
        self.live = live
        self.wished_theme = theme
        self.copied: list[str] = []
        self.opened: list[str] = []
        for one in themes.OURS:
            self.register_theme(one)

    def compose(self) -> ComposeResult:
        yield Transcript(self.live, workdir="/repo", id="chat")

    def on_mount(self) -> None:
        self.theme = self.wished_theme
        self.query_one(Transcript).show(HERE)
        self.query_one(Transcript).focus()

    def on_opening_copied(self, message: Opening.Copied) -> None:
        self.copied.append(message.text)

    def open_url(self, url: str, *, new_tab: bool = True) -> None:
        self.opened.append(url)


@dataclass
class At:
    app: Reading
    pilot: Pilot[Any]
    live: Still
    chat: Transcript

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def become(self, view: View) -> None:
        self.live.become(view)
        self.chat.wake()
        await self.pilot.pause()

    @property
    def text(self) -> str:
        return screen_text(self.app)

    @property
    def lines(self) -> list[str]:
        """The rows of the conversation, without the scroll bar."""
        return [line[: self.app.size.width - 1].rstrip() for line in self.text.split("\n")]


@asynccontextmanager
async def reading(
    view: View,
    *,
    size: tuple[int, int] = (80, 24),
    theme: str = themes.DARK.name,
    plain: bool = False,
    lang: str = "C.UTF-8",
) -> AsyncGenerator[At]:
    live = Still(view)
    app = Reading(live, theme=theme, plain=plain, lang=lang)
    async with app.run_test(size=size, notifications=True) as pilot:
        await pilot.pause()
        yield At(app, pilot, live, app.query_one(Transcript))
