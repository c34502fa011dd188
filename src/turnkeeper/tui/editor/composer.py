"""Where prompts are written: the text, what is attached to it, what completes it, and what is kept of it.

typing ─> a draft, kept on disk ─> enter ─> Sent, Shell or Wanted ─> the draft is forgotten
                                    └─ the server is away: it is sent when that is back, unless somebody writes on
"""

from collections.abc import Coroutine, Iterable
from dataclasses import dataclass
from typing import Any

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import TextArea
from textual.worker import Worker

from turnkeeper.client.events import Link, LinkState
from turnkeeper.client.view import View
from turnkeeper.protocol.runs import Attachment
from turnkeeper.protocol.wire_requests import Unasked
from turnkeeper.tui.editor import outside, pasting
from turnkeeper.tui.editor.area import Area
from turnkeeper.tui.editor.chips import Chips
from turnkeeper.tui.editor.completing import Completing
from turnkeeper.tui.editor.drafts import NOTHING, Draft
from turnkeeper.tui.editor.gathering import Gathering
from turnkeeper.tui.editor.keeping import Keeping
from turnkeeper.tui.editor.keys import KEYS
from turnkeeper.tui.editor.listing import Listing
from turnkeeper.tui.editor.past import Past
from turnkeeper.tui.editor.prompt import PromptSign
from turnkeeper.tui.editor.state import Standing, StateLine, placeholder
from turnkeeper.tui.editor.vim import Vim
from turnkeeper.tui.host import host_of
from turnkeeper.tui.keys import bindings
from turnkeeper.tui.live import Live

GATHERING = "gathering"
"""What has to be over before a prompt is sent: it is part of it."""


class Composer(Vertical):
    """Owns what is written for a session and not sent yet."""

    BINDINGS = bindings(KEYS, "editor")
    DEFAULT_CSS = """
    Composer { height: auto; background: $surface; padding: 0 1; border-top: solid $border; }
    Composer:focus-within { border-top: solid $primary; }
    Composer.-shell, Composer.-shell:focus-within { border-top: solid $accent; }
    Composer.-yolo, Composer.-yolo:focus-within { border-top: solid $error; }
    """
    session_id: reactive[str] = reactive("", init=False)
    link: reactive[Link | None] = reactive(None, init=False)
    vi: reactive[bool] = reactive(False, init=False)
    """Whether one writes as in vi."""
    is_shell: reactive[bool] = reactive(False, init=False)

    @dataclass
    class Sent(Message):
        text: str
        attachments: tuple[Attachment, ...] = ()

    @dataclass
    class Shell(Message):
        command: str

    @dataclass
    class Wanted(Message):
        """A command of the table was chosen by its name."""

        command: str

    class Cancel(Message):
        """Esc, and nothing of the editor's own to leave."""

    def __init__(self, live: Live) -> None:
        super().__init__(id="composer")
        self._live = live
        self._area = Area(pasted=self._pasted, began=self._began)
        self._chips = Chips()
        self._completing = Completing(self._area, Listing(live))
        self._line = StateLine()
        self._gathering = Gathering(live, self._chips, self._write)
        self.past = Past(live)
        self._keeping: Keeping | None = None
        self._waits = False
        self._sent_from_nowhere = False
        self._known = NOTHING
        """What is on the screen, as it was last looked at."""

    def compose(self) -> ComposeResult:
        yield self._line
        yield self._chips
        yield self._completing

    @on(events.Mount)
    def _begin(self) -> None:
        host = host_of(self)
        self._stop_listening = self._live.listen(self._heard)
        self.vi = host.settings.vim
        folder = host.state_dir / "drafts" if host.state_dir else None
        self._keeping = Keeping(self, folder, self._live.workspace.opened.path)
        self._show(self._keeping.load(self.session_id))
        self.run_worker(self.past.learn, name="learn what was said")
        self._draw()

    @on(events.Unmount)
    async def _end(self) -> None:
        self._stop_listening()
        await self.put_away()

    def focus(self, scroll_visible: bool = True) -> "Composer":
        self._area.focus(scroll_visible)
        return self

    def put(self, text: str, attachments: Iterable[Attachment] = ()) -> None:
        """Put a text in, before whatever is being written. Alone, with an exclamation mark, it is the shell's again."""
        kept = f"!{self._area.text}" if self.is_shell and self._area.text else self._area.text
        self._sent_from_nowhere = False
        # What was a prompt must not be run because a shell line stands behind it.
        self.is_shell = text.startswith("!") and not kept
        self._area.put(f"{text}\n{kept}" if kept.strip() else text.removeprefix("!") if self.is_shell else text)
        self._chips.attachments = (*attachments, *self._chips.attachments)
        self.focus()

    async def put_away(self) -> None:
        """Returns when the draft is on disk, or cannot be."""
        if self._keeping is not None:
            self._keeping.put(self.session_id, self._draft())
            await self._keeping.put_away()

    def _draft(self) -> Draft:
        return Draft(self._area.text, self.is_shell, self._chips.attachments)

    def _show(self, draft: Draft) -> None:
        self.is_shell = draft.is_shell
        self._area.load_text(draft.text)
        self._area.move_cursor(self._area.document.end)
        self._chips.attachments = draft.attachments
        self._known = draft

    def _watch_session_id(self, before: str, after: str) -> None:
        if self._keeping is None:
            return
        draft = self._draft()
        begins_here = not before and self._sent_from_nowhere and self._keeping.load(after).is_empty
        self._sent_from_nowhere = False
        self._waits = False
        if begins_here:
            # What has been written since the first prompt went off belongs to the session which that has begun.
            self._keeping.put(before, NOTHING)
            self._keeping.put(after, draft)
        else:
            self._keeping.put(before, draft)
            self._show(self._keeping.load(after))
        self._draw()

    @on(TextArea.Changed)
    @on(Chips.Changed)
    def _changed(self) -> None:
        draft = self._draft()
        if draft == self._known:
            return
        self._known = draft
        self._waits = False
        if self._keeping is not None:
            self._keeping.put(self.session_id, draft)
        self._draw()

    # What is known

    def _heard(self, before: View, now: View) -> None:
        if before.runs is not now.runs or before.unasked is not now.unasked:
            self._draw()

    def _watch_link(self) -> None:
        if not self._is_lost and self._waits:
            self._submit()
        self._draw()

    @property
    def _is_lost(self) -> bool:
        return self.link is not None and self.link.state is not LinkState.CONNECTED

    def _watch_vi(self, vi: bool) -> None:
        self._area.vi = Vim() if vi else None

    def _watch_is_shell(self, is_shell: bool) -> None:
        self._completing.is_quiet = is_shell
        # Later, since a draft that is being shown is not whole yet.
        self.call_later(self._changed)
        self._draw()

    @on(Area.ModeChanged)
    def _draw(self) -> None:
        # One that is being taken away loses its parts before itself.
        if not self.is_attached or not self.query(PromptSign):
            return
        view = self._live.view
        vim = self._area.vi
        is_yolo = not view.unasked.isdisjoint((Unasked(self._live.me), Unasked(self._live.me, self.session_id)))
        standing = Standing(
            mode=vim.mode if vim else None,
            is_shell=self.is_shell,
            is_busy=view.active(self.session_id) is not None,
            is_yolo=is_yolo,
            is_lost=self._is_lost,
            waits=self._waits,
        )
        self._line.say(standing)
        self._area.placeholder = placeholder(standing)
        self.query_one(PromptSign).kind = "shell" if self.is_shell else "yolo" if is_yolo else "prompt"
        self.set_class(self.is_shell, "-shell")
        self.set_class(is_yolo and not self.is_shell, "-yolo")

    # Sending

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        match action:
            case "plain":
                return self.is_shell and not self._area.text
            case "attachments":
                return bool(self._chips.attachments)
            case _:
                return True

    def action_send(self) -> None:
        text, at = self._area.text, self._area.at
        if text[at - 1 : at] == "\\" and at > 0:
            self._area.put(f"{text[: at - 1]}\n{text[at:]}", at=at)
        else:
            self._submit()

    def _submit(self) -> None:
        text, attachments = self._area.text.strip(), self._chips.attachments
        if gathered := [one for one in self.workers if one.group == GATHERING and not one.is_finished]:
            self.run_worker(self._submit_after(gathered), name="send when all is attached", exclusive=True)
        elif (not text and (self.is_shell or not attachments)) or self._completing.takes_command():
            return
        elif self._is_lost:
            self._waits = True
            self._draw()
        else:
            self.past.add(text, is_shell=self.is_shell)
            self._sent_from_nowhere = not self.session_id
            self.post_message(self.Shell(text) if self.is_shell else self.Sent(text, attachments))
            self._clear()

    async def _submit_after(self, gathered: list[Worker[None]]) -> None:
        await self.workers.wait_for_complete(gathered)
        self._submit()

    def _clear(self) -> None:
        self._waits = False
        if not self.is_shell:
            self._chips.attachments = ()
        self.is_shell = False
        self._area.put("")

    def action_newline(self) -> None:
        self._write("\n")

    def _write(self, text: str) -> None:
        self._area.replace(text, *self._area.selection, maintain_selection_offset=False)

    def action_cancel(self) -> None:
        if self._waits:
            self._waits = False
            self._draw()
        elif self.is_shell:
            # A line for the shell is never left where the next enter would send it to the model.
            self.past.add(self._area.text.strip(), is_shell=True)
            self._clear()
        else:
            self.post_message(self.Cancel())

    def action_plain(self) -> None:
        self.is_shell = False

    def _began(self, letter: str) -> bool:
        """An exclamation mark that begins a text is no letter of it: what follows is for the shell."""
        if letter == "!" and not self.is_shell:
            self.is_shell = True
            return True
        return False

    # What was said before

    def action_older(self) -> None:
        older = self.past.older(self._area.text, is_shell=self.is_shell)
        self._area.put(self._area.text if older is None else older, at=0)

    def action_newer(self) -> None:
        newer = self.past.newer(self._area.text, is_shell=self.is_shell)
        self._area.put(self._area.text if newer is None else newer)

    # Attachments

    def action_attach(self) -> None:
        """Begin to name a file."""
        text, at = self._area.text, self._area.at
        self._write("@" if not text[:at] or text[at - 1].isspace() else " @")

    def action_attachments(self) -> None:
        self._chips.focus()

    def action_paste_image(self) -> None:
        self._try(self._gathering.clipboard(), "paste the image", GATHERING)

    def _pasted(self, raw: str) -> None:
        # A shell has no attachments, so there all that is pasted is text.
        pasted = pasting.Insert(pasting.cleaned(raw)) if self.is_shell else pasting.understood(raw)
        match pasted:
            case pasting.Insert(text):
                self._write(text)
            case pasting.Attach(text):
                self._try(self._gathering.text(text), "attach the paste", GATHERING)
            case pasting.Pictures(readings, text):
                self._try(self._gathering.pictures(readings, text), "attach the picture", GATHERING)

    @on(Completing.FileChosen)
    def _file_chosen(self, event: Completing.FileChosen) -> None:
        event.stop()
        self._try(self._gathering.file(event.path), f"attach {event.path}", GATHERING)
        if self.session_id:
            self.run_worker(self._gathering.tell_seen(event.path, self.session_id), name="tell what was seen")

    @on(Chips.Left)
    def _chips_left(self) -> None:
        self._area.focus()

    @on(Completing.CommandChosen)
    def _command_chosen(self, event: Completing.CommandChosen) -> None:
        event.stop()
        self.post_message(self.Wanted(event.name))

    def action_outside(self) -> None:
        self._try(self._edit_outside(), "write in your editor")

    async def _edit_outside(self) -> None:
        self._area.put(await outside.edited(self.app, self._area.text, host_of(self).env))

    def _try(self, doing: Coroutine[Any, Any, None], what: str, group: str = "default") -> None:
        """Do it beside the screen's own work, and tell what went wrong."""
        self.run_worker(self._live.attempt(doing, what), name=what, group=group)
