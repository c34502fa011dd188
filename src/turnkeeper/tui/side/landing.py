"""Where one lands: what this is, where, with which model; the sessions one may go on with; what is connected."""

from collections.abc import Sequence

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
from turnkeeper.tui.listed import Listed
from turnkeeper.tui.side.activity import ago, money
from turnkeeper.tui.side.around import Facts
from turnkeeper.tui.side.sidebar import at_home, muted

RECENT_MAX = 12
TITLE_CELLS = 56
LISTED_MAX = 4
FILES_MAX = 3
NAME_CHARS = 8


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
        self._recent = Listed(id="recent", markup=False)
        self._notes = Static("", id="notes", markup=False)

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield self._about
            yield self._recent
            yield self._notes

    def draw(self, view: View, facts: Facts, *, path: str, me: str, now: float) -> None:
        glyphs = glyphs_of(self)
        self._about.update(about(facts, path))
        recent = recent_sessions(view)[:RECENT_MAX]
        listed = self._recent
        chosen = listed.highlighted
        listed.set_options([Option(line(session, now, glyphs), id=session.id) for session in recent])
        listed.highlighted = chosen if chosen is not None and chosen < len(recent) else None
        listed.display = bool(recent)
        self._notes.update(notes(facts, here_too(view, me), bool(recent)))

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
    branch = muted(f"  on {facts.project.branch}" if facts.project.branch else "")
    return Content("\n").join([name, Content.assemble(muted(at_home(path)), branch), model])


def line(session: Session, now: float, glyphs: Glyphs) -> Content:
    """One session in a list: whether it works, its title, how long ago, its cost."""
    sign = (glyphs.running, "$text-primary") if session.is_busy else (" ", "")
    spent = f"  {money(float(session.cost))}" if session.cost else ""
    when = ago(now - session.updated_at) if session.updated_at else ""
    title = Content(session.title or "Untitled").truncate(TITLE_CELLS, ellipsis=True)
    return Content.assemble(sign, " ", title, muted(f"  {when}{spent}"))


def notes(facts: Facts, people: Sequence[str], has_sessions: bool) -> Content:
    """What there is to know before one begins, what wants to be looked at last."""
    lines: list[Content] = []
    if not has_sessions:
        lines.append(muted("Write what you want done. @ names a file, / a command, ! a shell command."))
    if facts.project.rules:
        lines.append(muted(f"Models are told what stands in {listed(facts.project.rules)}."))
    elif facts.needs_init:
        lines.append(muted("Nobody has described this project yet; /init looks at it and writes AGENTS.md."))
    connected = [f"{name} ({server.state})" for name, server in (*facts.lsps, *facts.mcp)]
    if connected:
        lines.append(muted("Connected: " + ", ".join(connected)))
    if people:
        lines.append(muted(f"Here too: {listed(people)}"))
    if facts.agent is not None and facts.agent.model_cfg.provider == "offline":
        lines.append(
            warning("The offline model answers: it lists, finds, reads and runs, and knows little. ")
            + muted("/providers adds a real one.")
        )
    lines += [
        warning(f"{file.path} waits to be trusted, and is not in force. ") + muted("/settings shows it.")
        for file in facts.settings.waiting[:FILES_MAX]
    ]
    set_aside = {file.path for file in facts.settings.waiting}
    if facts.settings.problem or any(notice.path not in set_aside for notice in facts.settings.notices):
        lines.append(warning("Something is wrong with the settings. ") + muted("/settings tells what."))
    return Content("\n").join(lines)


def here_too(view: View, me: str) -> list[str]:
    """Who else is in this workspace."""
    return [view.name_of(id) or id[:NAME_CHARS] for id in view.clients if id != me]


def listed(names: Sequence[str]) -> str:
    more = len(names) - LISTED_MAX
    return ", ".join(names[:LISTED_MAX]) + (f" and {more} more" if more > 0 else "")


def warning(text: str) -> Content:
    return Content.styled(text, "$text-warning")
