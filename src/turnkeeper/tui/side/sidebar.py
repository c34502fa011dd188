"""The side: the session, its model and what it cost, what it changed, has to do and left running, and who is here."""

import os
from collections.abc import Iterable
from pathlib import PurePath

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from turnkeeper.client.view import View
from turnkeeper.tui.glyphs import Glyphs, glyphs_of
from turnkeeper.tui.side.activity import amount, family, money
from turnkeeper.tui.side.around import Facts

FILES_MAX = 12
TODOS_MAX = 10
JOBS_MAX = 6
PEOPLE_MAX = 8
BAR_CELLS = 10


class Sidebar(VerticalScroll, can_focus=False):
    """Draws what it is told; owns nothing."""

    DEFAULT_CSS = """
    Sidebar { width: 34; dock: right; background: $surface; padding: 1 2; scrollbar-size-vertical: 1; }
    Sidebar Static { width: 1fr; height: auto; }
    """

    def __init__(self) -> None:
        super().__init__(id="sidebar")
        self._drawn = Static("", markup=False)

    def compose(self) -> ComposeResult:
        yield self._drawn

    def draw(self, view: View, session_id: str, facts: Facts, *, path: str, me: str) -> None:
        glyphs = glyphs_of(self)
        sections = (
            about_session(view, session_id, path),
            about_model(view, session_id, facts, glyphs),
            about_files(facts, path),
            about_todos(view, session_id, glyphs),
            about_jobs(facts, glyphs),
            about_servers(facts, glyphs),
            about_people(view, session_id, me, glyphs),
        )
        self._drawn.update(Content("\n\n").join([section for section in sections if section]))


def heading(text: str) -> Content:
    return Content.styled(text, "$text-primary bold")


def muted(text: str) -> Content:
    return Content.styled(text, "$foreground-muted")


def section(title: str, lines: Iterable[Content]) -> Content:
    return Content("\n").join([heading(title), *lines])


def about_session(view: View, session_id: str, path: str) -> Content:
    session = view.sessions.get(session_id)
    title = session.title if session else "No session yet"
    return Content("\n").join([Content.styled(title or "Untitled", "bold"), muted(at_home(path))])


def about_model(view: View, session_id: str, facts: Facts, glyphs: Glyphs) -> Content:
    agent, session = facts.agent, view.sessions.get(session_id)
    if agent is None or not agent.model_cfg.model:
        return section("Model", [Content.styled("none yet", "$text-warning"), muted("ctrl+l chooses one")])
    name = agent.model.name or agent.model_cfg.model
    lines = [Content(name), muted(agent.model_cfg.provider + effort(agent.model_cfg.reasoning_effort))]
    if session is not None:
        used, window = session.prompt_tokens + session.completion_tokens, agent.model.context_window
        if window:
            lines.append(context_bar(used, window, glyphs))
        elif used:
            lines.append(muted(f"{amount(used)} tokens"))
        cost = sum(float(view.sessions[one].cost) for one in family(view, session_id) if one in view.sessions)
        lines.append(muted(f"{money(float(session.cost) or cost)} spent"))
    return section("Model", lines)


def effort(level: str) -> str:
    return f", {level} effort" if level else ""


def context_bar(used: int, window: int, glyphs: Glyphs) -> Content:
    share = min(1.0, used / window)
    cells = round(share * BAR_CELLS)
    style = "$text-error" if share > 0.9 else "$text-warning" if share > 0.7 else "$text-success"
    bar = (glyphs.full * cells + glyphs.empty * (BAR_CELLS - cells), style)
    return Content.assemble(bar, muted(f" {share:.0%} of {amount(window)}"))


def about_files(facts: Facts, path: str) -> Content:
    if not facts.changes:
        return Content("")
    lines = [
        Content.assemble(
            inside(change.path, path),
            "  ",
            (f"+{change.added}", "$text-success"),
            " ",
            (f"-{change.removed}", "$text-error"),
        )
        for change in facts.changes[:FILES_MAX]
    ]
    return section("Changed files", [*lines, *and_more(len(facts.changes), FILES_MAX)])


def about_todos(view: View, session_id: str, glyphs: Glyphs) -> Content:
    session = view.sessions.get(session_id)
    if session is None or not session.todos:
        return Content("")
    done = sum(todo.status == "completed" for todo in session.todos)
    lines: list[Content] = []
    for todo in session.todos[:TODOS_MAX]:
        match todo.status:
            case "completed":
                lines.append(Content.styled(f"{glyphs.ok} {todo.content}", "$foreground-muted"))
            case "in_progress":
                lines.append(Content.styled(f"{glyphs.here} {todo.active_form or todo.content}", "$text-primary"))
            case _:
                lines.append(Content(f"{glyphs.waiting} {todo.content}"))
    return section(f"To-do {done}/{len(session.todos)}", [*lines, *and_more(len(session.todos), TODOS_MAX)])


def about_jobs(facts: Facts, glyphs: Glyphs) -> Content:
    going = [job for job in facts.jobs if job.exit_code is None and job.state == "running"]
    if not going:
        return Content("")
    lines = [
        Content.assemble((glyphs.running, "$text-success"), f" {job.id} {job.command}") for job in going[:JOBS_MAX]
    ]
    return section("Jobs", [*lines, *and_more(len(going), JOBS_MAX)])


def about_servers(facts: Facts, glyphs: Glyphs) -> Content:
    lines: list[Content] = []
    for name, lsp in facts.lsps:
        lines.append(Content.assemble(glyphs.bullet, f" {name} ", muted(f"LSP {lsp.state}")))
    for name, server in facts.mcp:
        lines.append(Content.assemble(glyphs.bullet, f" {name} ", muted(f"MCP {server.state}")))
    return section("Connected", lines) if lines else Content("")


def about_people(view: View, session_id: str, me: str, glyphs: Glyphs) -> Content:
    """Who else is in this workspace, those who look at this session first."""
    others = [client for client in view.clients.values() if client.client_id != me]
    others.sort(key=lambda client: client.session_id != session_id)
    lines: list[Content] = []
    for client in others[:PEOPLE_MAX]:
        where = "looks at this" if client.session_id == session_id else client.kind or "elsewhere"
        name = view.name_of(client.client_id) or client.client_id[:8]
        lines.append(Content.assemble(glyphs.bullet, f" {name} ", muted(where)))
    return section("Here too", [*lines, *and_more(len(others), PEOPLE_MAX)]) if lines else Content("")


def and_more(count: int, shown: int) -> list[Content]:
    return [muted(f"and {count - shown} more")] if count > shown else []


def inside(path: str, root: str) -> str:
    """A path as it is called from the workspace's directory."""
    try:
        return str(PurePath(path).relative_to(root))
    except ValueError:
        return path


def at_home(path: str) -> str:
    """`~` for the home directory."""
    home = os.path.expanduser("~")  # noqa: PTH111 - it asks no disk
    return "~" + path[len(home) :] if home != "/" and (path == home or path.startswith(home + "/")) else path
