"""Files this session changed: what became of each, taken back and done again, one file or all of them."""

from collections.abc import Iterable, Sequence
from functools import partial

from textual.content import Content
from textual.widget import Widget

from turnkeeper.client.view import View
from turnkeeper.protocol.wire_changes import ChangeView, UndoRequest
from turnkeeper.tui.chat.diff_view import draw_change
from turnkeeper.tui.chat.diffs import ROWS_MAX, compared
from turnkeeper.tui.chat.ink import Ink, Line
from turnkeeper.tui.dialogs.confirm import ConfirmDialog
from turnkeeper.tui.dialogs.filtered import Filtered, Row
from turnkeeper.tui.dialogs.list_keys import KEYS
from turnkeeper.tui.dialogs.paper import Paper
from turnkeeper.tui.doing import told_restored
from turnkeeper.tui.keys import bindings
from turnkeeper.tui.live import Live
from turnkeeper.tui.side.sidebar import inside as seen_from


class Files(Filtered):
    """Owns the changes as they were told last."""

    BINDINGS = bindings(KEYS, "files")
    PLACEHOLDER = "Type to find a file"
    NOTHING = "This session has changed no file. ctrl+y does again what was taken back."
    DEFAULT_CSS = """
    Files > #box { max-width: 160; height: 90%; }
    Files #rows { max-height: 8; }
    Files Paper { height: 1fr; }
    """

    def __init__(self, live: Live, session_id: str) -> None:
        super().__init__(live)
        self._session_id = session_id
        self._changes: dict[str, ChangeView] = {}

    def inside(self) -> Iterable[Widget]:
        yield from super().inside()
        yield Paper()

    def on_mount(self) -> None:
        super().on_mount()
        self.entitle("Changed files", "as this session found them, and now")
        self._look()

    def heard(self, before: View, now: View) -> None:
        if before.files.get(self._session_id) is not now.files.get(self._session_id):
            self._look()

    def _look(self) -> None:
        self.run_worker(self._ask, group="ask", exclusive=True)

    async def _ask(self) -> None:
        asked = self.live.workspace.files.changes(self._session_id)
        changes = await self.live.attempt(asked, "list the changed files")
        if changes is not None:
            self._changes = {change.path: change for change in changes}
            self.put(self.rows(self.live.view))
            self._preview()

    def rows(self, view: View) -> Sequence[Row]:
        del view
        root = self.live.workspace.opened.path
        return [Row(path, line(change, root), path) for path, change in sorted(self._changes.items())]

    def on_option_list_option_highlighted(self, event: object) -> None:
        self._preview()

    def _preview(self) -> None:
        change = self._changes.get(self.marked.id) if self.marked else None
        self.query_one(Paper).show(partial(drawn, change))

    # What is done

    def action_undo(self) -> None:
        if (row := self.marked) is not None:
            self._restore(UndoRequest(path=row.id), again=False)

    def action_redo(self) -> None:
        self._restore(UndoRequest(), again=True)

    def action_undo_all(self) -> None:
        if self._changes:
            counted = f"{len(self._changes)} files are" if len(self._changes) > 1 else "1 file is"
            about = f"{counted} put back to what this session found. ctrl+y does it again."
            self.app.push_screen(
                ConfirmDialog(
                    self.live,
                    "Take every change back?",
                    about,
                    yes="Take all back",
                    done=partial(self._restore, UndoRequest(version=0), again=False),
                )
            )

    def _restore(self, which: UndoRequest, *, again: bool) -> None:
        self.run_worker(partial(self._restored, which, again=again), group="restore")

    async def _restored(self, which: UndoRequest, *, again: bool) -> None:
        files = self.live.workspace.files
        work = files.redo(self._session_id, which) if again else files.undo(self._session_id, which)
        restored = await self.live.attempt(work, "do it again" if again else "take it back")
        if restored is not None:
            word = "Done again" if again else "Taken back"
            for text, severity in told_restored(restored, word) or [(f"{word}: nothing.", "information")]:
                self.host.say(text, severity=severity)
        await self._ask()

    def action_down(self) -> None:
        self.query_one(Paper).scroll_page_down(animate=False)

    def action_up(self) -> None:
        self.query_one(Paper).scroll_page_up(animate=False)

    def action_split(self) -> None:
        self.query_one(Paper).turned()


def line(change: ChangeView, root: str) -> Content:
    compare = compared(change.before or "", change.after or "")
    what = "  new" if change.before is None else "  deleted" if change.after is None else ""
    return Content.assemble(
        seen_from(change.path, root),
        (what, "$foreground-muted"),
        "  ",
        (f"+{compare.added}", "$text-success"),
        " ",
        (f"-{compare.removed}", "$text-error"),
    )


def drawn(change: ChangeView | None, ink: Ink) -> Sequence[Line]:
    if change is None:
        return ()
    compare = compared(change.before or "", change.after or "")
    lines, _ = draw_change(compare, ink, path=change.path, width=ink.width, rows_max=ROWS_MAX)
    return lines
