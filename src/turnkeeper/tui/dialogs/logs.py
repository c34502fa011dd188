"""What the server wrote to its log, its end first in sight and followed; what is typed picks the lines that hold it."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path

import anyio.to_thread
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input

from turnkeeper.client.local import local_server
from turnkeeper.tui.chat.ink import Ink, Line, cleaned, wrapped
from turnkeeper.tui.dialogs.dialog import Dialog
from turnkeeper.tui.dialogs.list_keys import KEYS
from turnkeeper.tui.dialogs.paper import Paper
from turnkeeper.tui.keys import bindings
from turnkeeper.tui.live import Live
from turnkeeper.tui.writing import Field

READ_BYTES_MAX = 256 * 1024
LOOK_SECONDS = 1.0
LEVELS = {" error ": "bad", " warning ": "warn", " warn ": "warn"}


class Logs(Dialog):
    """Owns what was read last."""

    BINDINGS = bindings([key for key in KEYS if key.id.startswith("list.page")])
    AUTO_FOCUS = "#filter"
    DEFAULT_CSS = """
    Logs > #box { max-width: 160; height: 90%; }
    Logs #filter { margin-top: 1; }
    Logs Paper { height: 1fr; }
    """

    def __init__(self, live: Live, session_id: str) -> None:
        del session_id
        super().__init__(live)
        self._file: Path | None = None
        self._read: list[str] = []

    def inside(self) -> Iterable[Widget]:
        yield Field(placeholder="Type to pick lines", id="filter")
        yield Paper()

    def on_mount(self) -> None:
        super().on_mount()
        server = local_server(str(self.live.client.host), env=self.host.env)
        self._file = server.log_file if server else None
        self.entitle("The server's log", str(self._file or "on the computer it runs on"))
        self.set_interval(LOOK_SECONDS, self._look)
        self._look()

    def _look(self) -> None:
        if self._file is not None:
            self.run_worker(partial(self._look_again, self._file), group="look", exclusive=True)
        else:
            self._show(["The server runs on another computer; its log is there."])

    async def _look_again(self, file: Path) -> None:
        lines = await anyio.to_thread.run_sync(last_lines, file)
        if lines != self._read:
            self._show(lines)

    def _show(self, lines: list[str]) -> None:
        paper = self.query_one(Paper)
        is_at_end = not self._read or paper.scroll_offset.y >= paper.max_scroll_y - 1
        before = paper.scroll_offset.y
        self._read = lines
        paper.show(self._drawn)
        if is_at_end:
            paper.scroll_end(animate=False)
        else:
            paper.scroll_to(y=before, animate=False)

    def _drawn(self, ink: Ink) -> list[Line]:
        wanted = self.query_one("#filter", Input).value.strip().lower()
        picked = [line for line in self._read if wanted in line.lower()]
        return [Line(row) for line in picked or ["Nothing."] for row in wrapped(coloured(line), ink.width)]

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        paper = self.query_one(Paper)
        paper.redraw()
        paper.scroll_end(animate=False)

    def action_page_above(self) -> None:
        self.query_one(Paper).scroll_page_up(animate=False)

    def action_page_below(self) -> None:
        self.query_one(Paper).scroll_page_down(animate=False)


def coloured(line: str) -> Content:
    style = next((style for word, style in LEVELS.items() if word in line.lower()), "")
    return Content.styled(cleaned(line), style)


def last_lines(file: Path) -> list[str]:
    """The end of a log, in whole lines."""
    try:
        with file.open("rb") as log:
            size = log.seek(0, 2)
            log.seek(max(0, size - READ_BYTES_MAX))
            read = log.read(READ_BYTES_MAX)
    except OSError as error:
        return [f"{file} cannot be read: {error.strerror or error}"]
    lines = read.decode("utf-8", "replace").splitlines()
    return lines[1:] if size > READ_BYTES_MAX else lines
