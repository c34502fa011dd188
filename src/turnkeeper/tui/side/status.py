"""The last line: what the session is doing and for how long, how to stop it, and which keys help here."""

from collections.abc import Callable

from textual.content import Content
from textual.reactive import reactive
from textual.timer import Timer
from textual.widget import Widget

from turnkeeper.client.view import View
from turnkeeper.tui.glyphs import glyphs_of, is_plain
from turnkeeper.tui.side.activity import Activity, activity, clock
from turnkeeper.tui.side.hints import Hint, fitting

FRAME_SECONDS = 0.1
PLAIN_FRAME_SECONDS = 1.0


class Status(Widget):
    """Owns the spinner's turn, and whether a second esc is awaited."""

    DEFAULT_CSS = """
    Status { height: 1; background: $surface; color: $text-muted; padding: 0 1; }
    """
    shown: reactive[Activity] = reactive(Activity())
    armed: reactive[bool] = reactive(False)
    yolo: reactive[bool] = reactive(False)
    turn: reactive[int] = reactive(0)
    elsewhere: reactive[int] = reactive(0)
    """How many other sessions wait for somebody."""

    answer_key: reactive[str] = reactive("")
    """What leads to what waits for somebody, as it is bound now."""

    following: reactive[str] = reactive("")
    """Whose sessions are shown."""

    def __init__(self, now: Callable[[], float], hints: Callable[[], list[Hint]]) -> None:
        super().__init__(id="status")
        self._now = now
        self._hints = hints
        self._timer: Timer | None = None

    def on_mount(self) -> None:
        seconds = PLAIN_FRAME_SECONDS if is_plain(self) else FRAME_SECONDS
        self._timer = self.set_interval(seconds, self._turned, pause=True)

    def _turned(self) -> None:
        self.turn += 1

    def heard(self, view: View, session_id: str) -> None:
        self.shown = activity(view, session_id)

    def watch_shown(self, shown: Activity) -> None:
        if self._timer is not None:
            if shown.is_busy:
                self._timer.resume()
            else:
                self._timer.pause()

    def render(self) -> Content:
        left = self._activity()
        room = self.content_size.width - left.cell_length - 3
        hints = Content("") if room < 10 else fitting(self._hints(), room)
        gap = max(1, self.content_size.width - left.cell_length - hints.cell_length)
        return Content.assemble(left, " " * gap, hints)

    def _activity(self) -> Content:
        glyphs = glyphs_of(self)
        parts: list[Content] = []
        if self.yolo:
            sign = "" if is_plain(self) else f"{glyphs.warning} "
            parts.append(Content.styled(f"{sign}yolo", "$text-warning bold"))
        if self.following:
            parts.append(Content.styled(f"{glyphs.here} following {self.following}", "$text-accent"))
        if self.elsewhere:
            said = f"{self.elsewhere} elsewhere" if self.elsewhere > 1 else "1 elsewhere"
            parts.append(
                Content.styled(f"{glyphs.waiting} {said} waits for an answer ({self.answer_key})", "$text-warning")
            )
        if self.shown.is_busy:
            parts.append(self._busy(self.shown))
        return Content("  ").join(parts) if parts else Content.styled("ready", "$foreground-muted")

    def _busy(self, shown: Activity) -> Content:
        glyphs = glyphs_of(self)
        turning = glyphs.running if is_plain(self) else glyphs.spinner[self.turn % len(glyphs.spinner)]
        sign = glyphs.waiting if shown.needs_person else turning
        said = f"{sign} {shown.word} {shown.detail}".rstrip()
        if shown.since:
            said += f" {clock(self._now() - shown.since / 1000)}"
        style = "$text-warning" if shown.needs_person else "$text-primary"
        if shown.word == "waiting":
            said += f"  {self.answer_key} to answer"
        stop = "esc again to stop" if self.armed else "esc esc to stop"
        if shown.word in ("stopping", "held"):
            return Content.styled(said, style)
        return Content.assemble(Content.styled(said, style), "  ", Content.styled(stop, "bold" if self.armed else ""))
