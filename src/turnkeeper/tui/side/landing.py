"""Where one lands: what this is, where, with which model; the sessions one may go on with; what is connected."""

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from turnkeeper import __version__
from turnkeeper.client.view import View
from turnkeeper.protocol.wire_sessions import Session
from turnkeeper.tui.glyphs import Glyphs, glyphs_of
from turnkeeper.tui.side.activity import ago, money
from turnkeeper.tui.side.around import Facts
from turnkeeper.tui.side.sidebar import at_home, muted

RECENT_MAX = 12
TITLE_CELLS = 56


class Landing(Vertical):
    """Owns which sessions it lists."""

    DEFAULT_CSS = """
    Landing { align: center middle; padding: 1 2; }
    Landing #box { width: 1fr; max-width: 84; height: auto; max-height: 1fr; }
    Landing Static { width: 1fr; height: auto; }
    Landing #about { margin-bottom: 1; }
    Landing OptionList { height: auto; max-height: 14; border: none; background: $background; padding: 0; }
    Landing OptionList:focus { border: none; }
    Landing #notes { margin-top: 1; }
    """

    class Opened(Message):
        """A session was chosen."""

        def __init__(self, session_id: str) -> None:
            super().__init__()
            self.session_id = session_id

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._about = Static("", id="about", markup=False)
        self._recent = OptionList(id="recent", markup=False)
        self._notes = Static("", id="notes", markup=False)

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield self._about
            yield self._recent
            yield self._notes

    def draw(self, view: View, facts: Facts, path: str, now: float) -> None:
        glyphs = glyphs_of(self)
        self._about.update(about(facts, path))
        recent = recent_sessions(view)[:RECENT_MAX]
        listed = self._recent
        chosen = listed.highlighted
        listed.set_options([Option(line(session, now, glyphs), id=session.id) for session in recent])
        listed.highlighted = chosen if chosen is not None and chosen < len(recent) else None
        listed.display = bool(recent)
        self._notes.update(notes(facts, bool(recent)))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if event.option_id:
            self.post_message(self.Opened(event.option_id))


def recent_sessions(view: View) -> list[Session]:
    """Conversations people have begun, latest first."""
    own = [session for session in view.sessions.values() if not session.parent_session_id]
    return sorted(own, key=lambda session: session.updated_at, reverse=True)


def about(facts: Facts, path: str) -> Content:
    name = Content.assemble(("turnkeeper", "$text-primary bold"), "  ", muted(__version__))
    agent = facts.agent
    if agent is None:
        model = muted("…")
    elif not agent.model_cfg.model:
        model = Content.styled("no model yet: ctrl+l chooses one", "$text-warning")
    else:
        said = agent.model.name or agent.model_cfg.model
        model = Content.assemble(said, muted(f" by {agent.model_cfg.provider}"))
    return Content("\n").join([name, muted(at_home(path)), model])


def line(session: Session, now: float, glyphs: Glyphs) -> Content:
    """One session in a list: whether it works, its title, how long ago, its cost."""
    sign = (glyphs.running, "$text-primary") if session.is_busy else (" ", "")
    spent = f"  {money(float(session.cost))}" if session.cost else ""
    when = ago(now - session.updated_at) if session.updated_at else ""
    title = Content(session.title or "Untitled").truncate(TITLE_CELLS, ellipsis=True)
    return Content.assemble(sign, " ", title, muted(f"  {when}{spent}"))


def notes(facts: Facts, has_sessions: bool) -> Content:
    lines: list[Content] = []
    if not has_sessions:
        lines.append(muted("Write what you want done. @ names a file, / a command, ! a shell command."))
    if facts.needs_init:
        lines.append(muted("Nobody has described this project yet; /init looks at it and writes AGENTS.md."))
    if facts.agent is not None and facts.agent.model_cfg.provider == "offline":
        lines.append(
            Content.styled(
                "The offline model answers: it lists, finds, reads and runs, and knows little. ", "$text-warning"
            )
            + muted("/providers adds a real one.")
        )
    connected = [f"{name} ({server.state})" for name, server in (*facts.lsps, *facts.mcp)]
    if connected:
        lines.append(muted("Connected: " + ", ".join(connected)))
    return Content("\n").join(lines)
