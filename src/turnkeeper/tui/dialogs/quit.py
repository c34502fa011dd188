"""Leave? Said with what goes on without us; the key that asked, pressed again, is a yes."""

from collections.abc import Iterable
from functools import partial

from textual.widget import Widget
from textual.widgets import Static

from turnkeeper.client.view import View
from turnkeeper.tui.dialogs.choices import Choice, Choices
from turnkeeper.tui.dialogs.dialog import Dialog
from turnkeeper.tui.dialogs.list_keys import KEYS
from turnkeeper.tui.keys import bindings
from turnkeeper.tui.live import Live


class Quit(Dialog):
    BINDINGS = bindings(KEYS, "quit")
    DEFAULT_CSS = """
    Quit > #box { max-width: 64; }
    Quit #what { height: auto; margin-top: 1; }
    """

    def __init__(self, live: Live, session_id: str) -> None:
        del session_id
        super().__init__(live)

    def inside(self) -> Iterable[Widget]:
        yield Static("", id="what", markup=False)
        yield Choices()

    def on_mount(self) -> None:
        super().on_mount()
        self.entitle("Leave?")
        self.query_one(Choices).choices = (Choice("yes", "Leave", "y"), Choice("no", "Stay", "n"))

    def draw(self, view: View) -> None:
        going = sum(not run.has_ended and not run.parent for run in view.runs.values())
        said: list[str] = []
        if any(line.by == self.live.me for line in view.lines.values()):
            said.append("The command that you run ends when you leave; what it has said is kept.")
        if going:
            runs = "One run goes" if going == 1 else f"{going} runs go"
            said.append(f"{runs} on at the server. 'turnkeeper --continue' brings you back to it.")
        nothing = "Nothing is running. What you have not sent is kept."
        self.query_one("#what", Static).update(" ".join(said) or nothing)

    def on_choices_given(self, event: Choices.Given) -> None:
        event.stop()
        if event.choice.id == "yes":
            self.action_yes()
        else:
            self.action_no()

    def action_yes(self) -> None:
        self.run_worker(partial(self.host.run_action, "leave"))

    def action_no(self) -> None:
        self.leave()
