"""Dialogs that ask for a text: another title for a session, another text for a waiting prompt, a file to export to."""

import contextlib
import os
import re
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import anyio.to_thread
from textual.widget import Widget
from textual.widgets import Input, Static, TextArea

from turnkeeper.client import exporting
from turnkeeper.client.view import View
from turnkeeper.protocol.messages import Message
from turnkeeper.protocol.wire_sessions import Session
from turnkeeper.tui import wishes
from turnkeeper.tui.dialogs.dialog import Dialog
from turnkeeper.tui.dialogs.filtered import Filter
from turnkeeper.tui.dialogs.list_keys import KEYS
from turnkeeper.tui.keys import bindings
from turnkeeper.tui.live import Live
from turnkeeper.tui.writing import Text

NAME_CHARS_MAX = 60
WRITERS: dict[str, Callable[[Session, Iterable[Message]], str]] = {
    ".md": exporting.markdown,
    ".html": exporting.page,
    ".json": exporting.as_json,
}


class AskLine(Dialog):
    """One line of text; enter takes it."""

    AUTO_FOCUS = "#line"
    TITLE_TEXT = ""
    DEFAULT_CSS = """
    AskLine > #box { max-width: 80; }
    AskLine #line { margin-top: 1; }
    AskLine #said { height: auto; color: $text-muted; margin-top: 1; }
    AskLine #said.-wrong { color: $text-error; }
    """

    def inside(self) -> Iterable[Widget]:
        yield Filter(id="line")
        yield Static("", id="said", markup=False)

    def on_mount(self) -> None:
        super().on_mount()
        self.entitle(self.TITLE_TEXT)

    def begin(self, text: str, about: str = "") -> None:
        line = self.query_one("#line", Input)
        line.value = text
        line.cursor_position = len(text)
        self.say(about)

    def say(self, text: str, *, wrong: bool = False) -> None:
        said = self.query_one("#said", Static)
        said.update(text)
        said.set_class(wrong, "-wrong")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if text := event.value.strip():
            self.run_worker(partial(self.take, text), group="take", exclusive=True)

    async def take(self, text: str) -> None:
        """What was entered."""


class Rename(AskLine):
    TITLE_TEXT = "Another title"

    def __init__(self, live: Live, session_id: str) -> None:
        super().__init__(live)
        self._session_id = session_id

    def on_mount(self) -> None:
        super().on_mount()
        session = self.live.view.sessions.get(self._session_id)
        self.begin(session.title if session else "", "A title that a person gave is never replaced by another.")

    async def take(self, text: str) -> None:
        if await self.live.attempt(self.live.workspace.sessions.rename(self._session_id, text), "rename the session"):
            self.leave()


class Export(AskLine):
    """The file's ending says how: `.md`, `.html` or `.json`."""

    TITLE_TEXT = "Export this conversation"

    def __init__(self, live: Live, session_id: str) -> None:
        super().__init__(live)
        self._session_id = session_id
        self._warned_of = ""

    def on_mount(self) -> None:
        super().on_mount()
        session = self.live.view.sessions.get(self._session_id)
        self.begin(f"{file_name(session.title if session else '')}.md", "A file here: .md, .html or .json")

    async def take(self, text: str) -> None:
        path = Path(os.path.expanduser(text))  # noqa: ASYNC240, PTH111 - it asks no disk
        writer = WRITERS.get(path.suffix.lower())
        if writer is None:
            self.say(f"The name has to end with {', '.join(WRITERS)}.", wrong=True)
            return
        if await anyio.Path(path).exists() and self._warned_of != text:
            self._warned_of = text
            self.say(f"{path} is there already; enter again writes over it.", wrong=True)
            return
        session = await self.live.attempt(self.live.workspace.sessions.get(self._session_id), "export the session")
        messages = await self.live.attempt(self.live.workspace.messages.list(self._session_id), "export the session")
        if session is None or messages is None:
            return
        try:
            await anyio.to_thread.run_sync(write_whole, path, writer(session, messages))
        except OSError as error:
            self.say(f"{path} cannot be written: {error.strerror or error}", wrong=True)
            return
        self.host.say(f"Exported to {path}")
        self.leave()


def file_name(title: str) -> str:
    """A title as a file may be called."""
    said = re.sub(r"[^\w.-]+", "-", title.strip().lower()).strip("-.")
    return said[:NAME_CHARS_MAX] or "conversation"


def write_whole(path: Path, text: str) -> None:
    """All of it, or nothing of it."""
    beside = path.with_name(f".{path.name}.part")
    try:
        beside.write_text(text, "utf-8")
        beside.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise


class EditPrompt(Dialog):
    """A prompt that waits in line, to be changed. If it runs meanwhile, what was written here is not lost."""

    BINDINGS = bindings(KEYS, "line")
    AUTO_FOCUS = "#text"
    DEFAULT_CSS = """
    EditPrompt #text { height: auto; min-height: 3; max-height: 16; margin-top: 1; border: none; padding: 0 1; }
    """

    def __init__(self, live: Live, run_id: str) -> None:
        super().__init__(live)
        self._run_id = run_id
        self._began_as = live.view.runs[run_id].prompt if run_id in live.view.runs else ""

    def inside(self) -> Iterable[Widget]:
        yield Text(self._began_as, id="text", show_line_numbers=False, compact=True)

    def on_mount(self) -> None:
        super().on_mount()
        self.entitle("A prompt that waits")
        text = self.query_one(TextArea)
        text.move_cursor(text.document.end)

    def draw(self, view: View) -> None:
        run = view.runs.get(self._run_id)
        if run is not None and run.state == "queued":
            return
        written = self.query_one(TextArea).text
        if written.strip() and written != self._began_as:
            self.host.say("It runs already; your text is where you write.", severity="warning")
            self.leave(wishes.Put(written))
        else:
            self.leave()

    def action_newline(self) -> None:
        self.query_one(TextArea).insert("\n")

    def action_save(self) -> None:
        self.leave(wishes.Edit(self._run_id, self.query_one(TextArea).text))
