"""What every dialog is: a box over the conversation with a heading, its matter, and a line of keys.

A dialog hears of every change of the view. What somebody asks for in it is asked of the server beside it, so that
nothing it does holds up the screen; what it leaves behind for the main screen is a wish.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Size
from textual.reactive import reactive
from textual.screen import ModalScreen
from textual.widget import Widget

from turnkeeper.client.view import View
from turnkeeper.tui.dialogs.keys import KEYS
from turnkeeper.tui.dialogs.list_keys import KEYS as LIST_KEYS
from turnkeeper.tui.glyphs import glyphs_of
from turnkeeper.tui.host import Host, host_of
from turnkeeper.tui.keys import bindings
from turnkeeper.tui.live import Live
from turnkeeper.tui.side.hints import Hint, short
from turnkeeper.tui.wishes import Wish

PLACES = {key.id: place for place, key in enumerate((*LIST_KEYS, *KEYS))}
OWN_KEYS = {key.id: key.keys.split(",") for key in (*LIST_KEYS, *KEYS)}


class Heading(Widget):
    """What a dialog is about, and at the right what there is to be known beside it."""

    DEFAULT_CSS = """
    Heading { height: 1; width: 1fr; color: $text-primary; text-style: bold; }
    """
    title: reactive[Content] = reactive(Content(""))
    beside: reactive[Content] = reactive(Content(""))

    def render(self) -> Content:
        room = self.content_size.width
        beside = self.beside if self.beside.cell_length < room - 8 else Content("")
        left = self.title.truncate(max(1, room - beside.cell_length - 2), ellipsis=True)
        gap = max(1, room - left.cell_length - beside.cell_length)
        return Content.assemble(left, " " * gap, beside.stylize_before("not bold"))


class Foot(Widget):
    """Which keys do something here, in the order of the key map, in as many lines as they need."""

    DEFAULT_CSS = """
    Foot { height: auto; max-height: 3; width: 1fr; margin-top: 1; color: $foreground-muted; }
    """

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        del container, viewport
        return max(1, len(self._lines(width)))

    def render(self) -> Content:
        return Content("\n").join(self._lines(self.content_size.width))

    def _lines(self, width: int) -> list[Content]:
        lines: list[Content] = []
        for hint in self._hints():
            said = Content.assemble((hint.key, "$foreground bold"), " ", (short(hint.about), "$foreground-muted"))
            if lines and lines[-1].cell_length + 2 + said.cell_length <= width:
                lines[-1] = Content.assemble(lines[-1], "  ", said)
            else:
                lines.append(said)
        return lines

    def _hints(self) -> list[Hint]:
        active = [one for one in self.screen.active_bindings.values() if one.binding.show and one.enabled]
        # Of several keys for one thing the first is shown, which works in most terminals: it is written last.
        active.sort(key=lambda one: _turn(one.binding), reverse=True)
        ours = {one.binding.id: one.binding for one in active if one.binding.id in PLACES}
        ids = sorted(filter(None, ours), key=lambda id: (id == "dialog.close", PLACES[id]))
        return [Hint(self.app.get_key_display(ours[id]), ours[id].description) for id in ids]


def _turn(binding: Binding) -> int:
    """Which of its row's keys this is; after them all, where the settings gave it another."""
    keys = OWN_KEYS.get(binding.id or "", [])
    return keys.index(binding.key) if binding.key in keys else len(keys)


class Dialog(ModalScreen[Wish | None]):
    """Owns nothing of the workspace: it closes as if it had never been."""

    BINDINGS = bindings(KEYS, "dialog")
    DEFAULT_CSS = """
    Dialog { align: center middle; }
    Dialog > #box { width: 1fr; max-width: 104; height: auto; max-height: 100%; margin: 1 2; padding: 0 1;
                    border: round $primary; background: $surface; color: $foreground; }
    Dialog > #box.-ascii { border: ascii $primary; }
    Dialog Input { height: 1; border: none; padding: 0; background: $panel; }
    Dialog Input:focus { border: none; }
    Dialog OptionList { height: auto; max-height: 100%; border: none; padding: 0; background: $surface;
                        scrollbar-size-vertical: 1; overflow-x: hidden; }
    Dialog OptionList:focus { border: none; }
    """

    def __init__(self, live: Live) -> None:
        super().__init__()
        self.live = live
        # Kept by name: what is learnt while a dialog goes still finds them.
        self.heading, self.foot = Heading(), Foot()
        self._is_there = False
        self._stop_listening = lambda: None

    @property
    def host(self) -> Host:
        return host_of(self)

    def compose(self) -> ComposeResult:
        with Vertical(id="box", classes="-ascii" if glyphs_of(self).name == "ascii" else ""):
            yield self.heading
            yield from self.inside()
            yield self.foot

    def inside(self) -> Iterable[Widget]:
        """What is between the heading and the keys."""
        return ()

    def entitle(self, title: Content | str, beside: Content | str = "") -> None:
        heading = self.heading
        heading.title = title if isinstance(title, Content) else Content(title)
        heading.beside = beside if isinstance(beside, Content) else Content.styled(beside, "$foreground-muted")

    def on_mount(self) -> None:
        if self._is_there:
            # Called by a kind of dialog that begins with this, and by Textual for each class of its own.
            return
        self._is_there = True
        self._stop_listening = self.live.listen(self._told)
        self.draw(self.live.view)

    def on_unmount(self) -> None:
        self._is_there = False
        self._stop_listening()

    def on_screen_resume(self) -> None:
        self._told(self.live.view, self.live.view)

    def _told(self, before: View, now: View) -> None:
        """A dialog that is not there yet, or no longer, draws nothing."""
        if self._is_there and self.is_attached:
            self.heard(before, now)

    def on_descendant_focus(self, _: events.DescendantFocus) -> None:
        self.foot.refresh(layout=True)

    def heard(self, before: View, now: View) -> None:
        """The workspace has changed; also called when whatever stood over the dialog has gone."""
        del before
        self.draw(now)

    def draw(self, view: View) -> None:
        """Show how things are."""

    def ask(self, doing: str, asked: Callable[..., Awaitable[object]], *about: Any) -> None:
        """Ask the server for something beside the screen's own work; what it refuses is told."""

        async def attempt() -> None:
            await self.live.attempt(asked(*about), doing)

        # Of the application, so that it is not given up when the dialog closes.
        self.host.run_worker(attempt, group="asking")

    def leave(self, wish: Wish | None = None) -> None:
        """Close, if nothing stands over it. Once: what is learnt while it closes does not close it again."""
        if self.is_current and self._is_there:
            self._is_there = False
            self.dismiss(wish)

    def action_close(self) -> None:
        self.leave()
