"""What every part of the terminal may ask of the application it is in."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from textual import on
from textual.app import App
from textual.binding import Binding
from textual.dom import DOMNode
from textual.events import Event, InputEvent, Key, Mount, Unmount
from textual.filter import LineFilter
from textual.message import Message
from textual.notifications import Notification, Notify

from turnkeeper.protocol.problems import Problem
from turnkeeper.tui.glyphs import Glyphs, glyphs_for
from turnkeeper.tui.keyboard import teach_alt, understood
from turnkeeper.tui.legible import LEGIBLE
from turnkeeper.tui.settings import Settings
from turnkeeper.tui.spelling import ASCII_ONLY, Colourless
from turnkeeper.tui.tidying import LOOK_SECONDS, Tidying

TOAST_SECONDS = 5.0
LONG_TOAST_SECONDS = 12.0
KEY_WORDS = {"⏎": "enter", "⌫": "backspace", "↑": "up", "↓": "down", "←": "left", "→": "right", "^": "ctrl+"}


class Host(App[int]):
    """Owns what is common to all parts: signs, settings, the clock, and how trouble is told."""

    @dataclass
    class Unsaid(Message, bubble=False):
        """What was told is to be seen no more."""

        told: Notification

    def __init__(
        self,
        *,
        env: Mapping[str, str],
        now: Callable[[], float] = time.time,
        state_dir: Path | None = None,
    ) -> None:
        teach_alt()
        super().__init__()
        self.env = env
        self.now = now
        self.state_dir = state_dir
        """Where drafts are kept; None to keep none."""
        self.settings = Settings()
        self.plain = wants_plain(env)
        self.glyphs: Glyphs = glyphs_for("ascii" if self.plain else "", env)
        self._colourless = Colourless(lambda: self.current_theme.dark)
        self.tidying = Tidying()
        self._told: dict[str, Notification] = {}
        """By matter what was said of it last."""

    @on(Mount)
    def _begin_tidying(self) -> None:
        self.tidying.begin()
        self.set_interval(LOOK_SECONDS, self.tidying.look, name="tidying")

    @on(Unmount)
    def _end_tidying(self) -> None:
        self.tidying.end()

    async def on_event(self, event: Event) -> None:
        if isinstance(event, InputEvent):
            self.tidying.touched()
        if isinstance(event, Key) and not event.is_forwarded:
            event = understood(event)
        await super().on_event(event)

    async def obey(self, key: str) -> None:
        """Do now what a key is bound to where the focus is."""
        await self._check_bindings(key)

    def _watch_app_focus(self, focus: bool) -> None:
        """Whoever looks elsewhere for a while has the focus where it was, and is shown the keys that hold there."""
        del focus
        self.screen.update_node_styles()

    def get_line_filters(self) -> Sequence[LineFilter]:
        return (*super().get_line_filters(), *self._spelling(), LEGIBLE)

    def _spelling(self) -> Sequence[LineFilter]:
        colours = (self._colourless,) if self.env.get("NO_COLOR") else ()
        is_ascii = glyphs_for(self.settings.glyphs, self.env).name == "ascii"
        return (*colours, ASCII_ONLY) if is_ascii else colours

    def get_key_display(self, binding: Binding) -> str:
        """A key in signs; in words, where there are no signs."""
        shown = super().get_key_display(binding)
        if self.plain or self.glyphs.name == "ascii":
            for sign, word in KEY_WORDS.items():
                shown = shown.replace(sign, word)
        return shown

    def problem(self, problem: Problem, doing: str) -> None:
        """Tell that something could not be done."""
        said = problem.message[:1].upper() + problem.message[1:]
        self.say(said, title=f"Could not {doing}", severity="error", about=doing)

    def say(self, text: str, *, title: str = "", severity: str = "information", about: str = "") -> None:
        """Tell something in passing, in place of what was said of the same matter. It is text and no markup."""
        match severity:
            case "error" | "warning":
                told = Notification(text, title, severity, LONG_TOAST_SECONDS)
            case _:
                told = Notification(text, title, timeout=TOAST_SECONDS)
        matter = about or f"{title}\n{text}"
        self.unsay(matter)
        self._told = {known: one for known, one in self._told.items() if not one.has_expired} | {matter: told}
        self.post_message(Notify(told))

    def unsay(self, about: str) -> None:
        """What was said of a matter is no news any more."""
        if known := self._told.pop(about, None):
            self.post_message(self.Unsaid(known))

    def on_host_unsaid(self, event: Unsaid) -> None:
        # It comes after the notification itself, however soon it was sent.
        self._unnotify(event.told)

    def put_out(self, sequence: str) -> None:
        """Write to the terminal what is no part of the picture: its title, its bell."""
        driver = self._driver
        if sequence and driver is not None and not self.is_headless:
            driver.write(sequence)
            driver.flush()


def wants_plain(env: Mapping[str, str]) -> bool:
    return env.get("TURNKEEPER_PLAIN", "") not in ("", "0")


def host_of(widget: DOMNode) -> Host:
    """The application a part is in."""
    app = widget.app
    assert isinstance(app, Host)
    return app
