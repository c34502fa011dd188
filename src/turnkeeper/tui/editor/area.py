"""The text that is being written: Textual's text area, with our keys, and vi's where somebody wants them."""

import re
from collections.abc import Callable
from dataclasses import replace

from textual import events
from textual.actions import SkipAction
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import TextArea
from textual.widgets.text_area import Selection

from turnkeeper.tui.editor.keys import KEYS
from turnkeeper.tui.editor.vim import NAMED, Done, Mode, Vim, left_insert, pressed, rested
from turnkeeper.tui.keys import bindings
from turnkeeper.tui.writing import obeyed_here

BEGINNINGS = "/!"
"""What begins a command or a shell line is written at once, also where keys are commands."""

WITH_ALT = re.compile(r"alt\+([a-z])")


class Area(TextArea, inherit_bindings=False):
    """Owns the text and where the cursor is in it.

    `pasted` is told what is pasted. `began` is told the letter an empty text is about to begin with, and answers
    whether it has taken it.
    """

    BINDINGS = bindings(KEYS, "writing")
    DEFAULT_CSS = """
    Area { height: auto; min-height: 3; max-height: 15; border: none; padding: 0; background: transparent; width: 1fr;
           scrollbar-size-vertical: 1; }
    Area:focus { border: none; }
    """
    vi: reactive[Vim | None] = reactive(None)
    """None where keys simply write."""

    class ModeChanged(Message):
        """Keys write now, or are commands."""

    def __init__(self, *, pasted: Callable[[str], None], began: Callable[[str], bool]) -> None:
        super().__init__(soft_wrap=True, tab_behavior="focus", highlight_cursor_line=False, id="area")
        self.cursor_blink = False
        self.match_cursor_bracket = False
        self.is_completing = False
        self.look: Callable[[], None] = lambda: None
        """Sees what is being named in the text as it is now."""
        self._pasted = pasted
        self._began = began

    @property
    def at(self) -> int:
        """The cursor's place in the text."""
        row, column = self.cursor_location
        return sum(len(self.document.get_line(line)) + 1 for line in range(row)) + column

    def put(self, text: str, *, at: int | None = None) -> None:
        """Another text, which can be undone; the cursor at its end, or where it is wanted."""
        self._replace(text)
        self._go(len(text) if at is None else at)

    def _watch_vi(self, before: Vim | None, after: Vim | None) -> None:
        if (before and before.mode) is not (after and after.mode):
            self.post_message(self.ModeChanged())

    async def _on_key(self, event: events.Key) -> None:
        if self._takes_command(event) or (event.is_printable and not self.text and self._began(event.character or "")):
            event.stop()
            event.prevent_default()
            return
        if not event.is_printable:
            self.look()
        await obeyed_here(self, event)

    def _takes_command(self, event: events.Key) -> bool:
        """Where keys are commands, obey this one, if it is one."""
        if self.vi is None:
            return False
        if (letter := WITH_ALT.fullmatch(event.key)) and not self.is_completing:
            # Terminals say the same of a letter with alt as of esc and a letter soon after it, which is meant in vi.
            for key in (events.Key("escape", "\x1b"), events.Key(letter[1], letter[1])):
                self._takes_command(key)
            return True
        if self.vi.mode is Mode.INSERT:
            if event.key != "escape" or self.is_completing:
                return False
            self._become(left_insert(self.vi, self.text, self.at))
            return True
        if event.key == "escape" and self.vi.mode is Mode.NORMAL and not self.vi.keys:
            return False
        if not self.text and event.character and event.character in BEGINNINGS:
            self.vi = replace(self.vi, mode=Mode.INSERT)
            return False
        if not event.is_printable and event.key not in NAMED:
            return False
        key = event.character if event.is_printable and event.character else event.key
        self._become(pressed(self.vi, self.text, self.at, key))
        return True

    def _become(self, done: Done) -> None:
        before = self.vi
        self.vi = done.vim
        for _ in range(abs(done.undo)):
            (self.undo if done.undo > 0 else self.redo)()
        if done.undo:
            self._go(rested(self.text, self.at))
            return
        self._replace(done.text)
        if done.vim.mode is Mode.VISUAL:
            # The cursor stands on the last letter that is marked; backwards, the letter it began on is marked, too.
            anchor = done.vim.anchor + (done.at < done.vim.anchor)
            self.selection = Selection(self._place(anchor), self._place(done.at))
        else:
            self._go(done.at)
        if before and before.mode is not done.vim.mode:
            self.history.checkpoint()

    def _replace(self, text: str) -> None:
        """Change only what differs, so that undoing goes back in steps a person made."""
        before = self.text
        if text == before:
            return
        head = alike(before, text)
        tail = alike(before[head:][::-1], text[head:][::-1])
        begins, ends = self._place(head), self._place(len(before) - tail)
        self.history.checkpoint()
        self.replace(text[head : len(text) - tail], begins, ends, maintain_selection_offset=False)
        self.history.checkpoint()

    def _go(self, at: int) -> None:
        self.move_cursor(self._place(at))

    def _place(self, at: int) -> tuple[int, int]:
        lines = self.text[:at].split("\n")
        return len(lines) - 1, len(lines[-1])

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self._pasted(event.text)

    # Keys. Where one is passed by, whatever holds this text may have a use for it.

    def action_cursor_up(self, select: bool = False) -> None:
        if not select and (self.is_completing or self.navigator.is_first_wrapped_line(self.cursor_location)):
            raise SkipAction
        super().action_cursor_up(select)

    def action_cursor_down(self, select: bool = False) -> None:
        if not select and (self.is_completing or self.navigator.is_last_wrapped_line(self.cursor_location)):
            raise SkipAction
        super().action_cursor_down(select)

    def action_delete_left(self) -> None:
        if not self.text:
            raise SkipAction
        super().action_delete_left()

    def action_text_start(self) -> None:
        self._go(0)

    def action_text_end(self) -> None:
        self._go(len(self.text))

    def action_select_left(self) -> None:
        self.action_cursor_left(select=True)

    def action_select_right(self) -> None:
        self.action_cursor_right(select=True)

    def action_select_up(self) -> None:
        self.action_cursor_up(select=True)

    def action_select_down(self) -> None:
        self.action_cursor_down(select=True)

    def action_select_word_left(self) -> None:
        self.action_cursor_word_left(select=True)

    def action_select_word_right(self) -> None:
        self.action_cursor_word_right(select=True)

    def action_select_line_start(self) -> None:
        self.action_cursor_line_start(select=True)

    def action_select_line_end(self) -> None:
        self.action_cursor_line_end(select=True)


def alike(one: str, other: str) -> int:
    """How many letters they begin with in common."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((count for count, (a, b) in pairs if a != b), min(len(one), len(other)))
