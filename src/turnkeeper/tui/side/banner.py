"""The banner: that the server is away, for how long, and that nothing that was typed is lost by it."""

from collections.abc import Callable

from textual.timer import Timer
from textual.widgets import Static

from turnkeeper.client.events import Link, LinkState
from turnkeeper.tui.glyphs import glyphs_of
from turnkeeper.tui.side.activity import clock

PATIENCE_SECONDS = 0.7
"""A cut that is mended at once is not worth a word."""


class Banner(Static):
    """Owns how the link is."""

    DEFAULT_CSS = """
    Banner { display: none; height: auto; max-height: 2; padding: 0 1; background: $warning-muted;
             color: $text-warning; }
    Banner.-shown { display: block; }
    """

    def __init__(self, now: Callable[[], float]) -> None:
        super().__init__("", id="banner", markup=False)
        self._now = now
        self._link: Link | None = None
        self._timer: Timer | None = None

    @property
    def is_lost(self) -> bool:
        return self._link is not None and self._link.state is not LinkState.CONNECTED

    def on_mount(self) -> None:
        self._timer = self.set_interval(PATIENCE_SECONDS, self._tell, pause=True)

    def linked(self, link: Link) -> None:
        self._link = link
        if link.state is LinkState.CONNECTED:
            self.remove_class("-shown")
            if self._timer is not None:
                self._timer.pause()
        elif self._timer is not None:
            self._timer.resume()

    def _tell(self) -> None:
        if self._link is None or not self.is_lost:
            return
        away = clock(self._now() - self._link.since)
        why = f": {self._link.problem}" if self._link.problem else ""
        trying = "still trying" if self._link.state is LinkState.LOST else "reconnecting"
        self.update(
            f"{glyphs_of(self).warning} The server has been away for {away}{why}. {trying.capitalize()}; "
            "what runs goes on, and what you type is kept."
        )
        self.add_class("-shown")
