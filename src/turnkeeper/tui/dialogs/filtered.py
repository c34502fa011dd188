"""A dialog that is a list: what is typed narrows it, arrows move in it, enter takes what is marked.

Rows come from the view or from the server; they are ranked as files are when they are named. A row is marked by its id,
so that it stays marked when others come and go.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from textual import on
from textual.binding import Binding
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from turnkeeper.client.view import View
from turnkeeper.tui.dialogs.dialog import Dialog
from turnkeeper.tui.dialogs.list_keys import KEYS
from turnkeeper.tui.editor.fuzzy import ranked
from turnkeeper.tui.keys import bindings
from turnkeeper.tui.listed import Listed
from turnkeeper.tui.live import Live
from turnkeeper.tui.writing import Field

ROWS_MAX = 500


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a list. `called` is what typed letters are compared with; without it, it is a heading."""

    id: str
    line: Content
    called: str = ""
    found: Content | None = None
    """How it is shown among those that fit what is typed, where it is without its heading."""

    @property
    def is_heading(self) -> bool:
        return not self.called


class Filter(Field):
    """The line in which one types what is looked for; what enter does is told among the keys."""

    BINDINGS = [Binding("enter", "submit", "Take: what is marked", show=True, id="list.take")]


class Filtered(Dialog):
    """Owns what is typed, and which row is marked."""

    BINDINGS = bindings(KEYS, "list")
    AUTO_FOCUS = "#filter"
    PLACEHOLDER = "Type to narrow the list"
    NOTHING = "There is nothing here."
    DEFAULT_CSS = """
    Filtered #filter { margin: 1 0; }
    Filtered #rows { height: auto; max-height: 50vh; text-wrap: nowrap; text-overflow: ellipsis; }
    Filtered #nothing { color: $text-muted; height: auto; display: none; }
    Filtered #about { color: $text-muted; height: auto; max-height: 4; margin-top: 1; }
    """

    def __init__(self, live: Live) -> None:
        super().__init__(live)
        self._rows: Sequence[Row] = ()
        self._shown: Sequence[Row] = ()
        # Kept by name: what is learnt while the dialog goes still finds them.
        self._filter = Filter(placeholder=self.PLACEHOLDER, id="filter")
        self._listed = Listed(id="rows", markup=False)
        self._listed.can_focus = False
        self._nothing = Static(self.NOTHING, id="nothing", markup=False)
        self._about = Static("", id="about", markup=False)

    def inside(self) -> Iterable[Widget]:
        yield self._filter
        yield self._listed
        yield self._nothing
        yield self._about

    # What a list says of itself

    def rows(self, view: View) -> Sequence[Row]:
        """All there are, in order."""
        del view
        return ()

    def about(self, row: Row | None) -> Content | str:
        """What is to be known of the marked row, below the list."""
        del row
        return ""

    def nothing(self, typed: str) -> str:
        """What is said where there is no row to show."""
        return f"Nothing is called “{typed}”." if typed and self._rows else self.NOTHING

    def taken(self, row: Row) -> None:
        """Enter, or a click, on a row."""

    # How it is shown

    @property
    def marked(self) -> Row | None:
        index = self._listed.highlighted
        return self._shown[index] if index is not None and index < len(self._shown) else None

    def draw(self, view: View) -> None:
        self.put(self.rows(view))

    def put(self, rows: Sequence[Row]) -> None:
        """Show these rows, as far as they fit what is typed."""
        self._rows = rows
        marked = self.marked
        typed = self._filter.value.strip()
        self._shown = narrowed(rows, typed)
        listed = self._listed
        listed.set_options(
            [
                Option(row.found if typed and row.found else row.line, id=row.id, disabled=row.is_heading)
                for row in self._shown
            ]
        )
        ids = [row.id for row in self._shown]
        if marked is not None and marked.id in ids and not marked.is_heading:
            listed.highlighted = ids.index(marked.id)
        else:
            listed.highlighted = next((at for at, row in enumerate(self._shown) if not row.is_heading), None)
        listed.display = bool(self._shown)
        self._nothing.display = not self._shown
        self._nothing.update(self.nothing(typed))
        self._tell_about()

    def mark(self, id: str) -> None:
        """Mark a row."""
        at = next((at for at, row in enumerate(self._shown) if row.id == id), None)
        if at is not None:
            self._listed.highlighted = at

    def _tell_about(self) -> None:
        said = self.about(self.marked)
        self._about.update(said)
        self._about.display = bool(said)
        self.foot.refresh()

    @on(Input.Changed, "#filter")
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._listed.highlighted = None
        self.put(self._rows)

    @on(Input.Submitted, "#filter")
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_take()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        self._tell_about()

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.action_take()

    def action_take(self) -> None:
        if (row := self.marked) is not None and not row.is_heading:
            self.taken(row)

    def action_above(self) -> None:
        self._listed.action_cursor_up()

    def action_below(self) -> None:
        self._listed.action_cursor_down()

    def action_page_above(self) -> None:
        self._listed.action_page_up()

    def action_page_below(self) -> None:
        self._listed.action_page_down()


def narrowed(rows: Sequence[Row], typed: str) -> Sequence[Row]:
    """Those that fit what is typed, best first and without headings; all of them, while nothing is."""
    if not typed:
        return rows[:ROWS_MAX]
    by_name: dict[str, list[Row]] = {}
    for row in rows:
        if not row.is_heading:
            by_name.setdefault(row.called, []).append(row)
    return [row for match in ranked(typed, by_name, most=ROWS_MAX) for row in by_name[match.text]]
