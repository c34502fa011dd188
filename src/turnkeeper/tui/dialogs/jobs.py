"""Commands that run in the background: which, since when, what they say as they say it; and how to stop one."""

from collections.abc import Iterable, Sequence

from textual.content import Content
from textual.widget import Widget

from turnkeeper.client.view import View
from turnkeeper.protocol.wire_changes import JobRow
from turnkeeper.tui.chat.ink import Ink, Line, cleaned, clipped, styled
from turnkeeper.tui.dialogs.filtered import Filtered, Row
from turnkeeper.tui.dialogs.list_keys import KEYS
from turnkeeper.tui.dialogs.paper import Paper
from turnkeeper.tui.glyphs import Glyphs, glyphs_of
from turnkeeper.tui.keys import bindings
from turnkeeper.tui.live import Live
from turnkeeper.tui.side.activity import ago

ASK_SECONDS = 0.5
SAID_CHARS_MAX = 100_000


class Jobs(Filtered):
    """Owns the jobs as they were told last, and what the marked one has said."""

    BINDINGS = bindings(KEYS, "jobs")
    PLACEHOLDER = "Type to find a command"
    NOTHING = "Nothing runs in the background."
    DEFAULT_CSS = """
    Jobs > #box { max-width: 140; height: 90%; }
    Jobs #rows { max-height: 8; }
    Jobs Paper { height: 1fr; }
    """

    def __init__(self, live: Live, session_id: str) -> None:
        super().__init__(live)
        self._session_id = session_id
        self._jobs: dict[str, JobRow] = {}
        self._shown_id = ""
        self._said = ""
        self._position = 0

    def inside(self) -> Iterable[Widget]:
        yield from super().inside()
        yield Paper()

    def on_mount(self) -> None:
        super().on_mount()
        self.entitle("Jobs", "of every session of this workspace")
        self.set_interval(ASK_SECONDS, self._look)
        self._look()

    def heard(self, before: View, now: View) -> None:
        """Jobs are asked for; the view does not tell of them."""

    def _look(self) -> None:
        if "asking" not in {worker.group for worker in self.workers if worker.node is self and worker.is_running}:
            self.run_worker(self._ask, group="asking")

    async def _ask(self) -> None:
        jobs = await self.live.attempt(self.live.workspace.jobs.all(), "list what runs in the background")
        if jobs is None:
            self.leave()
            return
        self._jobs = {f"{job.session_id} {job.id}": job for job in jobs}
        self.put(self.rows(self.live.view))
        await self._hear_more()

    async def _hear_more(self) -> None:
        row = self.marked
        job = self._jobs.get(row.id) if row else None
        if row is None or job is None:
            return
        if row.id != self._shown_id:
            self._shown_id, self._said, self._position = row.id, "", 0
        asked = self.live.workspace.jobs.output(job.session_id, job.id, after=self._position)
        more = await self.live.attempt(asked, "read what it said")
        if more is not None and (more.text or not self._said):
            self._said = (self._said + more.text)[-SAID_CHARS_MAX:]
            self._position = more.position
            paper = self.query_one(Paper)
            paper.show(self._drawn)
            paper.scroll_end(animate=False)

    def _drawn(self, ink: Ink) -> list[Line]:
        text = cleaned(self._said) or "It has said nothing yet."
        return [Line(clipped(styled(line), ink.width, shift=ink.shift)) for line in text.rstrip("\n").split("\n")]

    def rows(self, view: View) -> Sequence[Row]:
        glyphs, now = glyphs_of(self), self.host.now()
        ordered = sorted(
            self._jobs.items(), key=lambda one: (one[1].session_id != self._session_id, -one[1].started_at)
        )
        return [
            Row(id, line(job, view, glyphs, now), f"{job.id} {job.command} {job.description}") for id, job in ordered
        ]

    def about(self, row: Row | None) -> str:
        job = self._jobs.get(row.id) if row else None
        return job.description if job else ""

    def on_option_list_option_highlighted(self, event: object) -> None:
        self._tell_about()
        self.run_worker(self._hear_more, group="hear", exclusive=True)

    def action_kill(self) -> None:
        job = self._jobs.get(self.marked.id) if self.marked else None
        if job is not None:
            self.ask("stop the command", self.live.workspace.jobs.kill, job.session_id, job.id)


def line(job: JobRow, view: View, glyphs: Glyphs, now: float) -> Content:
    """Whether it runs, its name, what it is, since when, and whose it is."""
    is_going = job.exit_code is None
    sign = (glyphs.running, "$text-success") if is_going else (glyphs.ok if job.exit_code == 0 else glyphs.failed, "")
    going = f"{job.state}, detached" if job.detached else job.state
    state = going if is_going else f"exit {job.exit_code}"
    session = view.sessions.get(job.session_id)
    command = " ".join(job.command.split())
    rest = f"  {state}, {ago(now - job.started_at / 1000)}  {session.title if session else ''}"
    return Content.assemble(sign, f" {job.id} ", (command[:60], "bold"), (rest, "$foreground-muted"))
