"""What is attached to a prompt: a chip each, with its size; removed by its number, or with the mouse."""

from collections.abc import Sequence

from textual import events
from textual.content import Content
from textual.message import Message
from textual.style import Style
from textual.widgets import Static

from turnkeeper.protocol.runs import Attachment
from turnkeeper.tui.editor.attaching import size
from turnkeeper.tui.editor.keys import KEYS
from turnkeeper.tui.glyphs import glyphs_of
from turnkeeper.tui.keys import bindings

NAME_CHARS_MAX = 32


class Chips(Static, can_focus=True):
    """Owns what is attached. It has the focus while somebody says what to remove."""

    BINDINGS = bindings(KEYS, "chips")
    DEFAULT_CSS = """
    Chips { display: none; height: auto; padding: 0 0 0 2; }
    Chips.-some { display: block; }
    """

    class Changed(Message):
        """Something is attached now that was not, or the other way round."""

    class Left(Message):
        """Whoever looked at the chips wants to write again."""

    def __init__(self) -> None:
        super().__init__(markup=False)
        self._attachments: tuple[Attachment, ...] = ()
        self._key = ""

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        return self._attachments

    @attachments.setter
    def attachments(self, attachments: Sequence[Attachment]) -> None:
        if tuple(attachments) != self._attachments:
            had_focus = self.has_focus
            self._attachments = tuple(attachments)
            self.set_class(bool(attachments), "-some")
            self._draw()
            self.post_message(self.Changed())
            if had_focus and not attachments:
                self.post_message(self.Left())

    def _draw(self) -> None:
        glyphs = glyphs_of(self)
        chips: list[Content] = []
        for number, one in enumerate(self._attachments, start=1):
            sign = glyphs.image if one.mime_type.startswith("image/") else glyphs.file
            name = one.file_name
            if len(name) > NAME_CHARS_MAX:
                name = name[: NAME_CHARS_MAX - 1] + glyphs.ellipsis
            label = Content.assemble(
                (f" {number} ", "$accent bold" if self.has_focus else "$foreground 60%"),
                (f"{sign} ", "$primary"),
                name,
                (f" {size(len(one.content))} ", "$foreground 60%"),
                Content(glyphs.close).stylize(Style.from_meta({"@click": f"drop({number - 1})"})),
                " ",
            )
            chips.append(label.stylize_before("on $panel"))
        said = Content(" ").join(chips)
        if self.has_focus:
            said = Content.assemble(said, ("  a number removes one, r all", "$foreground 60%"))
        self.update(said)

    def _watch_has_focus(self, _: bool) -> None:
        self._draw()

    def on_key(self, event: events.Key) -> None:
        self._key = event.key

    def action_remove(self) -> None:
        if self._key.isdigit():
            self._without(int(self._key) - 1)

    def action_drop(self, index: int) -> None:
        """With the mouse, which has brought the focus here."""
        self._without(index)
        self.post_message(self.Left())

    def _without(self, index: int) -> None:
        if 0 <= index < len(self._attachments):
            self.attachments = (*self._attachments[:index], *self._attachments[index + 1 :])

    def action_clear(self) -> None:
        self.attachments = ()

    def action_leave(self) -> None:
        self.post_message(self.Left())
