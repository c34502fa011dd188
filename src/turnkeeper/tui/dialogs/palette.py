"""The palette: every command by its name, with what it does and the key that does it too."""

from collections.abc import Mapping, Sequence

from textual.content import Content

from turnkeeper.client.view import View
from turnkeeper.tui.commands import COMMANDS, Command
from turnkeeper.tui.dialogs.filtered import Filtered, Row
from turnkeeper.tui.keymap import BY_ID, shown_keys
from turnkeeper.tui.live import Live
from turnkeeper.tui.wishes import Call

NAME_CELLS = 14
KEY_CELLS = 10


class Palette(Filtered):
    PLACEHOLDER = "What do you want to do?"

    def __init__(self, live: Live, session_id: str) -> None:
        del session_id
        super().__init__(live)

    def on_mount(self) -> None:
        super().on_mount()
        self.entitle("Commands", "each also after a / where you write")

    def rows(self, view: View) -> Sequence[Row]:
        del view
        own = self.host.settings.keys
        return [
            Row(
                command.name,
                Content.assemble(
                    (command.name.ljust(NAME_CELLS), "bold"),
                    (keys_of(command, own).ljust(KEY_CELLS), "$text-primary"),
                    command.about,
                ),
                f"{command.name} {command.about} {' '.join(command.aliases)}",
            )
            for command in COMMANDS
        ]

    def taken(self, row: Row) -> None:
        self.leave(Call(row.id))


def keys_of(command: Command, own: Mapping[str, str]) -> str:
    """The first of the keys that do the same, as it is bound now."""
    row = BY_ID.get(command.key)
    return shown_keys(row, own).partition(",")[0] if row is not None else ""
