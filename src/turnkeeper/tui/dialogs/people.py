"""Who is here, and what they look at; enter follows one of them from session to session."""

from collections.abc import Sequence

from textual.content import Content

from turnkeeper.client.view import View
from turnkeeper.protocol.wire_clients import ClientView
from turnkeeper.tui.chat.ink import one_line
from turnkeeper.tui.dialogs.filtered import Filtered, Row
from turnkeeper.tui.live import Live
from turnkeeper.tui.side.activity import ago
from turnkeeper.tui.wishes import Follow


class People(Filtered):
    PLACEHOLDER = "Type to find somebody"
    NOTHING = "Nobody else is here."

    def __init__(self, live: Live, session_id: str) -> None:
        del session_id
        super().__init__(live)

    def on_mount(self) -> None:
        super().on_mount()
        self.entitle("Who is here", "enter follows; opening a session yourself ends it")

    def rows(self, view: View) -> Sequence[Row]:
        now = self.host.now()
        others = [client for client in view.clients.values() if client.client_id != self.live.me]
        return [Row(one.client_id, line(one, view, now), one_line(one.name) or one.client_id) for one in others]

    def taken(self, row: Row) -> None:
        self.leave(Follow(row.id))


def line(client: ClientView, view: View, now: float) -> Content:
    """A client's name, what kind it is, since when, and what it looks at."""
    session = view.sessions.get(client.session_id)
    looks = f"looks at {one_line(session.title)}" if session else "looks at no session"
    since = f", {ago(now - client.since / 1000)}" if client.since else ""
    name = one_line(client.name) or client.client_id[:8]
    return Content.assemble((name, "bold"), (f"  {client.kind}{since}  {looks}", "$foreground-muted"))
