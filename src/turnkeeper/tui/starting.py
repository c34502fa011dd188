"""The first screen: there at once, while the server is found or started; and where it says why it could not be."""

from textual.app import ComposeResult
from textual.containers import Middle
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Static

from turnkeeper.tui.keymap import APP_KEYS
from turnkeeper.tui.keys import bindings


class Starting(Screen[None]):
    class Again(Message):
        """Try once more to connect."""

    BINDINGS = bindings(APP_KEYS, "starting")
    DEFAULT_CSS = """
    Starting { align: center middle; }
    Starting Middle { width: 100%; }
    Starting Static { width: 100%; padding: 0 2; text-align: center; }
    Starting #name { color: $text-primary; text-style: bold; }
    Starting #what { color: $text-muted; margin-top: 1; }
    Starting #what.failed { color: $text-error; }
    """

    def compose(self) -> ComposeResult:
        with Middle():
            yield Static("turnkeeper", id="name", markup=False)
            yield Static("Looking for your server …", id="what", markup=False)

    def failed(self, why: str, *, goes_on: bool = False) -> None:
        what = self.query_one("#what", Static)
        rest = "Trying again …" if goes_on else "Press r to try again, q to leave. 'turnkeeper doctor' looks into it."
        what.update(f"{why[:1].upper()}{why[1:]}\n\n{rest}")
        what.set_class(not goes_on, "failed")

    def action_again(self) -> None:
        what = self.query_one("#what", Static)
        what.update("Looking for your server …")
        what.remove_class("failed")
        self.post_message(self.Again())

    async def action_leave(self) -> None:
        await self.app.run_action("quit")
