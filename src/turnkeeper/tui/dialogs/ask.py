"""One line is asked for: a name, a path, a key. A secret is never shown."""

from collections.abc import Callable, Iterable

from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from turnkeeper.tui.dialogs.dialog import Dialog
from turnkeeper.tui.dialogs.keys import KEYS
from turnkeeper.tui.keys import bindings
from turnkeeper.tui.live import Live


class AskDialog(Dialog):
    """Calls `given` with what was written, unless that is nothing."""

    BINDINGS = bindings(KEYS, "ask")
    DEFAULT_CSS = """
    AskDialog > #box { max-width: 80; }
    AskDialog #about { height: auto; color: $foreground-muted; }
    AskDialog Input { margin-top: 1; }
    """

    def __init__(
        self,
        live: Live,
        title: str,
        about: str,
        *,
        given: Callable[[str], None],
        value: str = "",
        is_secret: bool = False,
    ) -> None:
        super().__init__(live)
        self._title = title
        self._about = about
        self._given = given
        self._value = value
        self._is_secret = is_secret

    def inside(self) -> Iterable[Widget]:
        yield Static(Content(self._about), id="about")
        yield Input(self._value, password=self._is_secret, select_on_focus=False)

    def on_mount(self) -> None:
        super().on_mount()
        self.entitle(self._title)

    def action_done(self) -> None:
        said = self.query_one(Input).value.strip()
        self.leave()
        if said:
            self._given(said)
