"""What every field does in which somebody writes: keys are obeyed in the order in which they are pressed."""

from typing import Any

from textual import events
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input, TextArea

from turnkeeper.tui.host import host_of


async def obeyed_here(field: Widget, event: events.Key) -> None:
    """Obey a key that writes no letter where it is heard.

    Textual writes a letter at once, but lets any other key go up to the application before it is obeyed. Where many
    come together, letters that were pressed after it would be written before.
    """
    if event.is_printable:
        return
    event.stop()
    event.prevent_default()
    # What lies under a dialog is told letters that were meant for it, and has no keys there.
    if field.screen.is_current:
        await host_of(field).obey(event.key)


class Field(Input):
    """A line in which one writes."""

    async def _on_key(self, event: events.Key) -> None:
        await obeyed_here(self, event)


class Text(TextArea):
    """A text in which one writes, and enter makes a line."""

    async def _on_key(self, event: events.Key) -> None:
        if event.key != "enter":
            await obeyed_here(self, event)


def pass_down(event: events.Key, screen: Screen[Any]) -> None:
    """Give a letter to whoever was writing when this screen appeared: it was meant for them."""
    stack = screen.app.screen_stack
    below = stack[-2].focused if len(stack) > 1 and stack[-1] is screen else None
    if isinstance(below, TextArea | Input) and event.is_printable:
        below.post_message(events.Key(event.key, event.character))
