"""One line is asked for: a name, a path, a key. A secret is never shown."""

from collections.abc import Callable, Iterable

from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from turnkeeper.tui.dialogs.dialog import Dialog
from turnkeeper.tui.dialogs.keys import KEYS
from turnkeeper.tui.keys import bindings
from turnkeeper.tui.live import Live
from turnkeeper.tui.writing import Field


class Asked(Field):
    """Answers to enter itself, and so after every letter before it."""

    BINDINGS = bindings(KEYS, "ask")

    async def action_done(self) -> None:
        await self.action_submit()


class AskDialog(Dialog):
    """Calls `given` with what was written, unless that is nothing."""

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
        yield Asked(self._value, password=self._is_secret, select_on_focus=False)

    def on_mount(self) -> None:
        super().on_mount()
        self.entitle(self._title)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        said = event.value.strip()
        self.leave()
        if said:
            self._given(said)
