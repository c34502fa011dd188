"""The line that waits: each prompt with its author and place; edited, moved, sent now or taken out where it stands."""

from collections.abc import Callable
from dataclasses import dataclass

from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from turnkeeper.client.view import View
from turnkeeper.protocol.wire_own import RunView
from turnkeeper.tui.glyphs import Glyphs, glyphs_of
from turnkeeper.tui.host import host_of
from turnkeeper.tui.keymap import BY_ID, shown_keys
from turnkeeper.tui.keys import bindings
from turnkeeper.tui.side.keys import KEYS

TEXT_CELLS_MAX = 60


class Queue(OptionList):
    """Owns which prompt is highlighted; it follows the prompt, not the place."""

    BINDINGS = bindings(KEYS, "queue")
    DEFAULT_CSS = """
    Queue { height: auto; max-height: 8; display: none; border: none; border-top: solid $border; padding: 0 1;
            background: $background; }
    Queue.-shown { display: block; border-title-color: $foreground-muted; }
    Queue:focus { border: none; border-top: solid $primary; }
    """

    @dataclass
    class Asked(Message):
        """Something is to be done with a waiting prompt."""

        what: str
        run: RunView
        place: int = 0

    class Left(Message):
        """Whoever looked at the line wants to write again."""

    def __init__(self, name_of: Callable[[str], str]) -> None:
        super().__init__(id="queue", markup=False)
        self._name_of = name_of
        self._waiting: list[RunView] = []
        self._held = False

    def heard(self, view: View, session_id: str) -> None:
        waiting, held = view.waiting(session_id), view.gates.get(session_id) == "held"
        if waiting == self._waiting and held == self._held:
            return
        chosen = self.run.run_id if self.run else ""
        self._waiting, self._held = waiting, held
        glyphs = glyphs_of(self)
        self.set_options(
            [Option(self._line(index, run, glyphs), id=run.run_id) for index, run in enumerate(waiting, start=1)]
        )
        places = {run.run_id: index for index, run in enumerate(waiting)}
        if waiting:
            self.highlighted = places.get(chosen, min(self.highlighted or 0, len(waiting) - 1))
        elif self.has_focus:
            self.post_message(self.Left())
        self.set_class(bool(waiting), "-shown")
        self.border_title = (
            f"{len(waiting)} waiting ({shown_keys(BY_ID['app.queue'], host_of(self).settings.keys)})"
            + (", held: r lets them go on" if held else "")
        )

    @property
    def run(self) -> RunView | None:
        index = self.highlighted
        return self._waiting[index] if index is not None and index < len(self._waiting) else None

    def _line(self, index: int, run: RunView, glyphs: Glyphs) -> Content:
        text = " ".join(run.prompt.split())
        text = text if len(text) <= TEXT_CELLS_MAX else text[: TEXT_CELLS_MAX - 1] + glyphs.ellipsis
        files = f"  {glyphs.file} {len(run.attachments)}" if run.attachments else ""
        how = "  joins the next step" if run.foldable else ""
        rest = Content.styled(f"  {self._name_of(run.by)}{files}{how}", "$foreground-muted")
        return Content.assemble((f"{glyphs.queued} {index} ", "$text-primary"), text, rest)

    def _ask(self, what: str, place: int = 0) -> None:
        if self.run is not None:
            self.post_message(self.Asked(what, self.run, place))

    def action_edit(self) -> None:
        self._ask("edit")

    def action_earlier(self) -> None:
        if self.highlighted:
            self._ask("move", self.highlighted - 1)

    def action_later(self) -> None:
        if self.highlighted is not None and self.highlighted + 1 < len(self._waiting):
            self._ask("move", self.highlighted + 1)

    def action_now(self) -> None:
        self._ask("now")

    def action_remove(self) -> None:
        self._ask("remove")

    def action_release(self) -> None:
        self._ask("release")

    def action_leave(self) -> None:
        self.post_message(self.Left())
