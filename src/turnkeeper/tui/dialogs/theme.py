"""Themes: the one that is marked is shown at once; enter keeps it, esc goes back."""

from collections.abc import Sequence

from textual.content import Content

from turnkeeper.client.view import View
from turnkeeper.protocol.config import Scope
from turnkeeper.tui.dialogs.filtered import Filtered, Row
from turnkeeper.tui.live import Live
from turnkeeper.tui.themes import chosen

AUTO = "auto"


class Themes(Filtered):
    """Owns which theme was shown before."""

    PLACEHOLDER = "Type to find a theme"

    def __init__(self, live: Live, session_id: str) -> None:
        del session_id
        super().__init__(live)
        self._before = ""

    def on_mount(self) -> None:
        self._before = self.host.theme
        super().on_mount()
        self.entitle("Themes", "[options.tui.themes] in the settings adds your own")
        self.mark(self._before)

    def rows(self, view: View) -> Sequence[Row]:
        del view
        rows = [Row(AUTO, Content.assemble(AUTO, ("  follows the terminal", "$foreground-muted")), AUTO)]
        for name in sorted(self.host.available_themes):
            if name.startswith("textual-"):
                continue
            kind = "dark" if self.host.available_themes[name].dark else "light"
            rows.append(Row(name, Content.assemble(name, (f"  {kind}", "$foreground-muted")), f"{name} {kind}"))
        return rows

    def about(self, row: Row | None) -> str:
        if row is not None and self._before:
            self.host.theme = chosen(row.id, self.host.available_themes, self.host.env)
        return ""

    def taken(self, row: Row) -> None:
        self._before = ""
        self.ask("keep this theme", self.live.workspace.config.set, Scope.GLOBAL, "options.tui.theme", row.id)
        self.leave()

    def action_close(self) -> None:
        if self._before:
            self.host.theme = self._before
            self._before = ""
        self.leave()
