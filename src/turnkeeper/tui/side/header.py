"""One line above the conversation where there is no room for the side: title, model, context used, to-dos, files."""

from textual.content import Content
from textual.widgets import Static

from turnkeeper.client.view import View
from turnkeeper.tui.glyphs import glyphs_of, is_plain
from turnkeeper.tui.side.activity import money
from turnkeeper.tui.side.around import Facts


class Header(Static):
    DEFAULT_CSS = """
    Header { height: 1; padding: 0 1; background: $surface; color: $text-muted; text-wrap: nowrap;
             text-overflow: ellipsis; }
    Main.-side Header { display: none; }
    """

    def __init__(self) -> None:
        super().__init__("", id="header", markup=False)

    def draw(self, view: View, session_id: str, facts: Facts, *, me: str) -> None:
        self.update(
            header(view, session_id, facts, me=me, between=", " if is_plain(self) else f" {glyphs_of(self).bullet} ")
        )


def header(view: View, session_id: str, facts: Facts, *, me: str, between: str) -> Content:
    session = view.sessions.get(session_id)
    if session is None:
        return Content("")
    said = [Content.styled(session.title or "Untitled", "$text bold")]
    agent = facts.agent
    if agent is not None and agent.model_cfg.model:
        said.append(Content(agent.model.name or agent.model_cfg.model))
        if agent.model.context_window:
            used = (session.prompt_tokens + session.completion_tokens) / agent.model.context_window
            said.append(Content(f"{min(1.0, used):.0%} of context"))
    if session.cost:
        said.append(Content(money(float(session.cost))))
    if session.todos:
        done = sum(todo.status == "completed" for todo in session.todos)
        said.append(Content(f"to-do {done}/{len(session.todos)}"))
    if facts.changes:
        added, removed = sum(one.added for one in facts.changes), sum(one.removed for one in facts.changes)
        said.append(Content(f"{len(facts.changes)} changed +{added} -{removed}"))
    if others := here(view, session_id, me):
        said.append(Content(f"with {', '.join(others)}"))
    return Content(between).join(said)


def here(view: View, session_id: str, me: str) -> list[str]:
    """Who else looks at this session, each once."""
    others = [client.client_id for client in view.watching(session_id) if client.client_id != me]
    return list(dict.fromkeys(view.name_of(id) or id[:8] for id in others))
