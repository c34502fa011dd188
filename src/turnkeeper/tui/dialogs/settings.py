"""Settings of this terminal and of how it tells things: each with its value; enter turns it to the next.

They are kept by the server in the file of a scope: for you everywhere, or for this workspace. What else can be set
stands in the files this names.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import anyio.to_thread
from textual.content import Content

from turnkeeper.client.view import View
from turnkeeper.protocol.config import Config, Scope
from turnkeeper.protocol.wire_config import ConfigState, ConfigWaiting
from turnkeeper.tui.chat.ink import one_line
from turnkeeper.tui.dialogs.confirm import ConfirmDialog
from turnkeeper.tui.dialogs.filtered import Filtered, Row
from turnkeeper.tui.dialogs.list_keys import KEYS
from turnkeeper.tui.keys import bindings
from turnkeeper.tui.live import Live
from turnkeeper.tui.settings import STYLES
from turnkeeper.tui.wishes import Call

NAME_CELLS = 22
WHERE = {Scope.GLOBAL: "for you, everywhere", Scope.WORKSPACE: "for this workspace"}


@dataclass(frozen=True, slots=True)
class Setting:
    """One thing to be set: the values it can have, in turn, and how to read it."""

    key: str
    name: str
    about: str
    values: tuple[Any, ...]
    read: Callable[[Config], Any]

    def after(self, value: Any) -> Any:
        """The value that comes after this one."""
        at = self.values.index(value) if value in self.values else -1
        return self.values[(at + 1) % len(self.values)]


SETTINGS = (
    Setting("options.tui.vim", "vi's keys", "Write as in vi.", (False, True), lambda c: c.options.tui.vim),
    Setting(
        "options.tui.timestamps",
        "Times",
        "Show when things were said.",
        (False, True),
        lambda c: c.options.tui.timestamps,
    ),
    Setting(
        "options.tui.compact_mode",
        "No side",
        "One line above the conversation, also where there is room for the side.",
        (False, True),
        lambda c: c.options.tui.compact_mode,
    ),
    Setting(
        "options.tui.diff_mode",
        "Diffs",
        "Side by side or in one column; by itself, as there is room.",
        ("", "unified", "split"),
        lambda c: c.options.tui.diff_mode,
    ),
    Setting(
        "options.tui.glyphs",
        "Signs",
        "Unicode or ASCII; by itself, as the terminal's language says. Holds from the next start.",
        ("", "unicode", "ascii"),
        lambda c: c.options.tui.glyphs,
    ),
    Setting(
        "options.tui.plain",
        "Plain",
        "Words in place of signs, no boxes, nothing that moves: for screen readers.",
        (False, True),
        lambda c: c.options.tui.plain,
    ),
    Setting(
        "options.notifications",
        "Notifications",
        "How you are told of an ending or a question while you look elsewhere.",
        STYLES,
        lambda c: c.options.notifications or "auto",
    ),
    Setting(
        "options.progress",
        "Progress",
        "Show in the terminal's tab that something is running.",
        (True, False),
        lambda c: c.options.progress is not False,
    ),
    Setting(
        "options.disable_auto_summarize",
        "Keep conversations",
        "Never summarise by itself when a conversation grows too long for its model.",
        (False, True),
        lambda c: c.options.disable_auto_summarize,
    ),
)
THEME = "theme"
FILES = "files"
SHOWN_LETTERS_MAX = 8_000
SHOWN_ROWS_MAX = 12
WAITS = "waits"


class SettingsDialog(Filtered):
    """Owns the configuration as it was read last, and the scope that is written to."""

    BINDINGS = bindings(KEYS, "settings")
    PLACEHOLDER = "Type to find a setting"

    def __init__(self, live: Live, session_id: str) -> None:
        del session_id
        super().__init__(live)
        self._config: Config | None = None
        self._state = ConfigState()
        self._scope = Scope.GLOBAL

    def on_mount(self) -> None:
        super().on_mount()
        self._title()
        self._learn()

    def _title(self) -> None:
        self.entitle("Settings", WHERE[self._scope])

    def heard(self, before: View, now: View) -> None:
        if before.config_revision != now.config_revision:
            self._learn()

    def _learn(self) -> None:
        self.run_worker(self._read, group="read", exclusive=True)

    async def _read(self) -> None:
        config = self.live.workspace.config
        self._config = await self.live.attempt(config.get(), "read the settings") or self._config
        self._state = await self.live.attempt(config.state(), "read the settings") or self._state
        self.put(self.rows(self.live.view))

    def rows(self, view: View) -> Sequence[Row]:
        del view
        if self._config is None:
            return ()
        rows = [Row(THEME, Content.assemble("Theme".ljust(NAME_CELLS), (self.host.theme, "bold")), "Theme colours")]
        for setting in SETTINGS:
            value = setting.read(self._config)
            line = Content.assemble(setting.name.ljust(NAME_CELLS), (shown(value), "bold"))
            rows.append(Row(setting.key, line, f"{setting.name} {setting.about} {setting.key}"))
        for file in self._state.waiting:
            wants = ", ".join(file.keys) or "all of it, for it is a script"
            line = Content.styled(f"waits to be trusted: {file.path} ({wants})", "$text-warning")
            rows.insert(0, Row(f"{WAITS} {file.path}", line, f"trust {file.path} {wants}"))
        for at, file in enumerate(self._state.files):
            rows.append(Row(f"{FILES} {at}", Content.styled(f"read from {file}", "$foreground-muted"), file))
        return rows

    def about(self, row: Row | None) -> Content | str:
        wrong = [self._state.problem] if self._state.problem else [str(notice) for notice in self._state.notices]
        said = Content.styled("\n".join(wrong), "$text-warning") if wrong else Content("")
        setting = next((one for one in SETTINGS if row is not None and one.key == row.id), None)
        if setting is None:
            return said
        return Content("\n").join([part for part in (Content(f"{setting.about} {setting.key}"), said) if part])

    def taken(self, row: Row) -> None:
        waiting = next((one for one in self._state.waiting if row.id == f"{WAITS} {one.path}"), None)
        if waiting is not None:
            self._ask_for_trust(waiting)
        if row.id == THEME:
            self.leave(Call("theme"))
        setting = next((one for one in SETTINGS if one.key == row.id), None)
        if setting is not None and self._config is not None:
            value = setting.after(setting.read(self._config))
            self.ask("keep this setting", self.live.workspace.config.set, self._scope, setting.key, value)

    def _ask_for_trust(self, file: ConfigWaiting) -> None:
        self.run_worker(partial(self._show_for_trust, file), group="trust", exclusive=True)

    async def _show_for_trust(self, file: ConfigWaiting) -> None:
        """What a project's file would have run here is shown before it can."""
        said = await anyio.to_thread.run_sync(beginning, Path(file.path))
        wants = "".join(f"\n  {key}" for key in file.keys) or "\n  all of it: it is a script that is run"
        self.app.push_screen(
            ConfirmDialog(
                self.live,
                "Trust what this file sets?",
                f"{file.path} came with the project and sets what may run programs here:{wants}\n\n"
                f"{said or 'Read it first. '}Trusted is what it says now; when that changes, you are asked again.",
                yes="Trust",
                done=lambda: self.ask("trust the file", self.live.workspace.config.trust, file.path, file.digest),
            )
        )

    def action_project(self) -> None:
        self._scope = Scope.WORKSPACE if self._scope is Scope.GLOBAL else Scope.GLOBAL
        self._title()


def beginning(path: Path) -> str:
    """How a file begins, as far as it can be read from here; nothing, where the server is on another computer."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            rows = file.read(SHOWN_LETTERS_MAX).splitlines()
    except OSError:
        return ""
    more = f"\n... and {len(rows) - SHOWN_ROWS_MAX} rows more: read it first." if len(rows) > SHOWN_ROWS_MAX else ""
    return "\n".join(["It says:", *(f"  {one_line(row)}" for row in rows[:SHOWN_ROWS_MAX])]) + more + "\n\n"


def shown(value: Any) -> str:
    """A value as people say it."""
    match value:
        case True:
            return "yes"
        case False:
            return "no"
        case "":
            return "by itself"
        case _:
            return str(value)
