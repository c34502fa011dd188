"""A list to choose from, shortened by what is typed: sessions, models, commands, and whatever else there is many of."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from turnkeeper.client.view import View
from turnkeeper.tui.dialogs.dialog import Dialog
from turnkeeper.tui.dialogs.keys import KEYS
from turnkeeper.tui.editor.fuzzy import ranked
from turnkeeper.tui.keys import bindings

AROUND_LINES = 10
ROWS_MAX = 1000


@dataclass(frozen=True, slots=True)
class Row:
    """Something to choose. `name` is what is typed to find it; `group` heads it where nothing is typed."""

    id: str
    face: Content
    name: str
    group: str = ""


class Picker(Dialog):
    """Owns what was typed and which row is highlighted; that follows the row, not the place."""

    BINDINGS = bindings(KEYS, "picker")
    AUTO_FOCUS = "#filter"
    DEFAULT_CSS = """
    Picker #filter { margin-top: 1; }
    Picker #rows { margin-top: 1; }
    Picker #note { height: auto; color: $foreground-muted; margin-top: 1; display: none; }
    Picker #note.-shown { display: block; }
    """
    hint = "Type to find"
    nothing = "There is nothing here yet."

    def inside(self) -> Iterable[Widget]:
        yield Input(placeholder=self.hint, id="filter", select_on_focus=False)
        yield OptionList(id="rows", markup=False)
        yield Static("", id="note", markup=False)

    def rows(self, view: View) -> Sequence[Row]:
        """All there is to choose from, in order."""
        del view
        return ()

    def picked(self, row: Row) -> None:
        """A row was chosen."""

    @property
    def typed(self) -> str:
        return self.query_one("#filter", Input).value

    @property
    def row(self) -> Row | None:
        """The highlighted one."""
        listed = self.query_one("#rows", OptionList)
        option = listed.highlighted_option
        return self._by_id.get(option.id or "") if option is not None else None

    def draw(self, view: View) -> None:
        self.fill(self.found(self.rows(view)))

    def found(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Those that fit what was typed, best first."""
        if not self.typed.strip():
            return rows[:ROWS_MAX]
        by_name: dict[str, list[Row]] = {}
        for row in rows:
            by_name.setdefault(row.name, []).append(row)
        return [row for match in ranked(self.typed.strip(), by_name, most=ROWS_MAX) for row in by_name[match.text]]

    _by_id: dict[str, Row]

    def fill(self, rows: Sequence[Row]) -> None:
        """Show these."""
        listed = self.query_one("#rows", OptionList)
        chosen = self.row.id if hasattr(self, "_by_id") and self.row is not None else ""
        self._by_id = {row.id: row for row in rows}
        options: list[Option] = []
        group = ""
        for row in rows:
            if row.group and row.group != group and not self.typed.strip():
                group = row.group
                options.append(Option(Content.styled(group, "$foreground-muted bold"), disabled=True))
            options.append(Option(row.face, id=row.id))
        listed.set_options(options)
        places = [at for at, option in enumerate(options) if option.id]
        same = [at for at in places if options[at].id == chosen]
        listed.highlighted = (same or places or [None])[0]
        listed.styles.max_height = max(3, self.app.size.height - AROUND_LINES)
        self.note(self.nothing if not rows and not self.typed else "Nothing fits." if not rows else "")

    def note(self, said: str) -> None:
        """Say something below the list."""
        note = self.query_one("#note", Static)
        note.update(Content(said))
        note.set_class(bool(said), "-shown")

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._by_id = {}
        self.draw(self.live.view)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.query_one("#filter", Input).focus()
        self.action_choose()

    def action_choose(self) -> None:
        if self.row is not None:
            self.picked(self.row)

    def action_up(self) -> None:
        self.query_one("#rows", OptionList).action_cursor_up()

    def action_down(self) -> None:
        self.query_one("#rows", OptionList).action_cursor_down()

    def action_page_up(self) -> None:
        self.query_one("#rows", OptionList).action_page_up()

    def action_page_down(self) -> None:
        self.query_one("#rows", OptionList).action_page_down()
