"""Why is nothing happening? What the session waits for, since when and until when, with a clock that runs."""

from collections.abc import Iterable

from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from turnkeeper.protocol.wire_overview import Wait, WaitKind, Why
from turnkeeper.tui.dialogs.dialog import Dialog
from turnkeeper.tui.glyphs import Glyphs, glyphs_of
from turnkeeper.tui.live import Live
from turnkeeper.tui.side.activity import clock

ASK_SECONDS = 1.0
WORDS = {
    WaitKind.PERMISSION: "waits for your permission",
    WaitKind.QUESTION: "waits for your answer",
    WaitKind.TOOL: "uses a tool",
    WaitKind.MODEL: "waits for the model's first word",
    WaitKind.WRITING: "the model is writing",
    WaitKind.RETRY: "asks the model again in a moment",
    WaitKind.SIGN_IN: "waits for somebody to sign in",
    WaitKind.STOPPING: "is stopping",
    WaitKind.SHELL: "runs a command for a person",
    WaitKind.RELEASE: "the line is held until somebody lets it go on",
    WaitKind.ENGINE: "is between two steps",
}


class WhyBusy(Dialog):
    """Owns what the server said last."""

    DEFAULT_CSS = """
    WhyBusy #why { height: auto; margin-top: 1; }
    """

    def __init__(self, live: Live, session_id: str) -> None:
        super().__init__(live)
        self._session_id = session_id

    def inside(self) -> Iterable[Widget]:
        yield Static("Asking the server …", id="why", markup=False)

    def on_mount(self) -> None:
        super().on_mount()
        self.entitle("Why is nothing happening?")
        self.set_interval(ASK_SECONDS, self._look)
        self._look()

    def _look(self) -> None:
        self.run_worker(self._ask, group="why", exclusive=True)

    async def _ask(self) -> None:
        why = await self.live.attempt(self.live.workspace.overview.why(self._session_id), "ask what it waits for")
        if why is None:
            self.leave()
            return
        self.query_one("#why", Static).update(told(why, glyphs_of(self)))


def told(why: Why, glyphs: Glyphs) -> Content:
    """All of it in lines."""
    if not why.busy:
        if lines := [line(wait, why.now, glyphs) for wait in why.waits if wait.kind == WaitKind.SHELL]:
            return Content("\n").join(lines)
        if why.queued:
            return Content(f"Nothing runs, and {why.queued} wait in line.")
        return Content("Nothing is to be done here: no run is going on and none waits.")
    steps = "1 step" if why.steps == 1 else f"{why.steps} steps"
    lines = [
        Content.assemble("Working for ", (clock((why.now - why.since) / 1000), "bold"), f", {steps} so far."),
        *(line(wait, why.now, glyphs) for wait in why.waits),
    ]
    if why.queued:
        lines.append(Content.styled(f"{why.queued} more wait in line.", "$foreground-muted"))
    return Content("\n").join(lines)


def line(wait: Wait, now: int, glyphs: Glyphs) -> Content:
    """One thing that is waited for."""
    what = f": {' '.join(wait.what.split())}" if wait.what else ""
    since = f" for {clock((now - wait.since) / 1000)}" if wait.since else ""
    until = f", at most {clock((wait.until - now) / 1000)} more" if wait.until > now else ""
    where = " (in a sub-agent)" if wait.session_id else ""
    person = wait.kind in (WaitKind.PERMISSION, WaitKind.QUESTION, WaitKind.SIGN_IN, WaitKind.RELEASE)
    said = f"{glyphs.waiting} {WORDS.get(wait.kind, wait.kind)}{what}{where}"
    return Content.assemble((said, "$text-warning" if person else "$text"), (f"{since}{until}", "$foreground-muted"))
