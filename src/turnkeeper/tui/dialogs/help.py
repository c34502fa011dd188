"""Help: every key of the map as it is bound now, by where it holds, and every command."""

from collections.abc import Sequence

from textual.content import Content

from turnkeeper.client.view import View
from turnkeeper.tui.commands import COMMANDS
from turnkeeper.tui.dialogs.filtered import Filtered, Row
from turnkeeper.tui.keymap import TITLES, grouped, shown_keys
from turnkeeper.tui.live import Live

KEY_CELLS = 32


class Help(Filtered):
    PLACEHOLDER = "Type to find a key or a command"

    def __init__(self, live: Live, session_id: str) -> None:
        del session_id
        super().__init__(live)

    def on_mount(self) -> None:
        super().on_mount()
        self.entitle("Keys and commands", "[options.tui.keys] in the settings changes them")

    def rows(self, view: View) -> Sequence[Row]:
        del view
        own = self.host.settings.keys
        rows: list[Row] = []
        for context, keys in grouped().items():
            title = TITLES.get(context, context)
            rows.append(heading(f"context {context}", title))
            for key in keys:
                line = Content.assemble((f"{shown_keys(key, own)}  ".ljust(KEY_CELLS), "$text-primary"), key.about)
                found = Content.assemble(line, (f"  {title}", "$foreground-muted"))
                rows.append(Row(key.id, line, f"{key.about} {shown_keys(key, own)} {key.id} {title}", found))
        rows.append(heading("commands", "Commands, after a / or in the palette"))
        for command in COMMANDS:
            said = "/" + ", /".join((command.name, *command.aliases))
            line = Content.assemble((f"{said}  ".ljust(KEY_CELLS), "$text-primary"), command.about)
            rows.append(Row(f"command {command.name}", line, f"{said} {command.about}"))
        return rows

    def about(self, row: Row | None) -> str:
        return f"In the settings it is called {row.id}." if row is not None and "." in row.id else ""


def heading(id: str, title: str) -> Row:
    return Row(id, Content.styled(title, "$foreground-muted bold"))
