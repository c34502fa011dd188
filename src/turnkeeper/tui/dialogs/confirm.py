"""Are you sure? What is lost is said, and no is what is chosen first where something is."""

from collections.abc import Callable, Iterable

from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from turnkeeper.tui.dialogs.choices import Choice, Choices
from turnkeeper.tui.dialogs.dialog import Dialog
from turnkeeper.tui.dialogs.keys import KEYS
from turnkeeper.tui.keys import bindings
from turnkeeper.tui.live import Live


class ConfirmDialog(Dialog):
    """Calls `done` when somebody is sure."""

    BINDINGS = bindings(KEYS, "confirm")
    AUTO_FOCUS = ""
    DEFAULT_CSS = """
    ConfirmDialog > #box { max-width: 70; }
    ConfirmDialog #about { height: auto; margin-top: 1; }
    """

    def __init__(
        self, live: Live, title: str, about: str, *, yes: str, done: Callable[[], None], is_loss: bool = True
    ) -> None:
        super().__init__(live)
        self._title = title
        self._about = about
        self._done = done
        self._yes = yes
        self._is_loss = is_loss

    def inside(self) -> Iterable[Widget]:
        yield Static(Content(self._about), id="about")
        yield Choices()

    def on_mount(self) -> None:
        super().on_mount()
        self.entitle(self._title)
        choices = self.query_one(Choices)
        choices.choices = (Choice("yes", self._yes, "y"), Choice("no", "No", "n"))
        choices.at = 1 if self._is_loss else 0

    def on_choices_given(self, event: Choices.Given) -> None:
        event.stop()
        self._give(event.choice)

    def action_yes(self) -> None:
        self.leave()
        self._done()

    def action_no(self) -> None:
        self.leave()

    def action_next(self) -> None:
        self.query_one(Choices).step(1)

    def action_choose(self) -> None:
        self._give(self.query_one(Choices).choice)

    def _give(self, choice: Choice) -> None:
        if choice.id == "yes":
            self.action_yes()
        else:
            self.action_no()
