"""The terminal application: connects, shows the workspace, and leaves.

    first paint ─> connect ─> the workspace is known ─> Main
                      └─ refused: said, with what to do; tried again on request

It opens what it is given (`connect`) and closes it when it leaves; between the two it owns what is common to all its
parts: signs, theme, settings, the clock, and how trouble is told.
"""

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import anyio
from textual.binding import Binding

from turnkeeper.client.events import Link
from turnkeeper.protocol.problems import Problem
from turnkeeper.tui import themes
from turnkeeper.tui.chat.ink import one_line
from turnkeeper.tui.dialogs.quit import Quit
from turnkeeper.tui.glyphs import glyphs_for
from turnkeeper.tui.host import Host, wants_plain
from turnkeeper.tui.keymap import APP_KEYS, moved, wrong_keys
from turnkeeper.tui.keys import bindings
from turnkeeper.tui.live import Live
from turnkeeper.tui.main import Main
from turnkeeper.tui.settings import Settings, settings_of
from turnkeeper.tui.side.landing import recent_sessions
from turnkeeper.tui.starting import Starting

GOODBYE_SECONDS = 6.0
ID_LETTERS = 8
"""How much of a session's id names it."""

Connect = Callable[[], AbstractAsyncContextManager[Live]]


class Terminal(Host):
    """Owns the connection, the settings and the screens."""

    TITLE = "turnkeeper"
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (80, "-normal"), (120, "-wide")]
    # Textual's own ctrl+c only explains how to leave; ours is in the key map.
    BINDINGS = [*bindings(APP_KEYS, "app"), Binding("ctrl+q", "quit", show=False, system=True)]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (14, "-tall")]
    CSS = """
    Screen { background: $background; color: $foreground; layers: base top; }
    ModalScreen { background: $background 60%; }
    ModalScreen:ansi { background: transparent; }
    ToastRack { dock: top; align: right top; margin-bottom: 0; }
    Toast { max-width: 70; }
    Dialog.-short > #box { height: 100%; margin: 0; padding: 0; border: none; }
    Dialog.-short Foot, Dialog.-short #asker, Dialog.-short #meaning, Dialog.-short #about { display: none; }
    Dialog.-short #filter, Dialog.-short Choices, Dialog.-short Paper { margin: 0; }
    Dialog.-short #rows { height: 1fr; max-height: 100%; }
    .-ascii Composer, .-ascii Composer:focus-within, .-ascii Queue, .-ascii Queue:focus { border-top: ascii $border; }
    .-ascii Toast, .-ascii Toast.-warning, .-ascii Toast.-error { border-left: ascii $border; }
    .-ascii Dialog > #box { border: ascii $border; }
    .-plain Composer, .-plain Composer:focus-within, .-plain Queue, .-plain Queue:focus { border-top: blank; }
    .-plain Toast, .-plain Toast.-warning, .-plain Toast.-error { border-left: blank; }
    .-plain Dialog > #box { border: blank; }
    .-plain Page, .-plain Paper, .-plain OptionList { scrollbar-size: 0 0; }
    """

    def __init__(
        self,
        connect: Connect,
        *,
        session: str = "",
        env: Mapping[str, str],
        now: Callable[[], float] = time.time,
        state_dir: Path | None = None,
    ) -> None:
        super().__init__(env=env, now=now, state_dir=state_dir)
        self.live: Live | None = None
        self.main: Main | None = None
        self._connect = connect
        self._session = session
        self._retry = anyio.Event()
        self._leaving = anyio.Event()
        self._left = anyio.Event()
        self._themes = themes.all_themes({})

    @property
    def is_ready(self) -> bool:
        """Whether the workspace is on the screen."""
        return self.main is not None and self.main.is_shown

    async def on_mount(self) -> None:
        self._apply(Settings())
        await self.push_screen(Starting())
        self.run_worker(self._stay, name="connection", exclusive=True)

    async def _stay(self) -> None:
        """Connected until somebody leaves."""
        try:
            while not self._leaving.is_set():
                self._retry = anyio.Event()
                try:
                    await self._attached()
                except (Problem, BaseExceptionGroup) as error:
                    await self._failed(problem_in(error))
        finally:
            self.live = None
            self._left.set()

    async def _attached(self) -> None:
        """Attached to the workspace until somebody leaves, or until it cannot be any longer."""
        async with self._connect() as live, anyio.create_task_group() as tasks:
            await self._begin(live)
            tasks.start_soon(live.follow)
            await live.begun()
            main = Main(live, session=self._session)
            await self.switch_screen(main)
            self.main = main
            await self._leaving.wait()
            tasks.cancel_scope.cancel()

    async def _failed(self, problem: Problem) -> None:
        """Say why there is no connection, and wait until somebody wants to try again."""
        if self.main is not None:
            self._session, self.main = self.main.session_id, None
            await self.switch_screen(Starting())
        if isinstance(self.screen, Starting):
            self.screen.failed(problem.message)
        await self._retry.wait()

    async def _begin(self, live: Live) -> None:
        self.live = live
        live.on_problem = self.problem
        live.on_link = self._linked
        await self.configure()

    async def configure(self) -> None:
        """Take the settings as they are now."""
        if self.live is not None:
            try:
                config = await self.live.workspace.config.get()
            except Problem as problem:
                self.problem(problem, "read the settings")
                return
            self._apply(settings_of(config))

    def _apply(self, settings: Settings) -> None:
        before, self.settings = self.settings, settings
        plain = settings.plain or wants_plain(self.env)
        if (settings.glyphs, plain) != (before.glyphs, self.plain):
            self.glyphs = glyphs_for("ascii" if plain else settings.glyphs, self.env)
        self.plain = plain
        self.animation_level = "none" if self.plain else "basic"
        self._themes = themes.all_themes(settings.themes)
        for theme in self._themes.values():
            self.register_theme(theme)
        self.theme = themes.chosen(settings.theme, self._themes, self.env)
        if settings.keys != before.keys:
            self.set_keymap(moved(settings.keys))
        if (settings.keys, settings.themes) != (before.keys, before.themes):
            for wrong in (*themes.wrong_themes(settings.themes), *wrong_keys(settings.keys)):
                self.say(wrong, severity="warning")
        self.set_class(self.plain, "-plain")
        self.set_class(self.plain or self.glyphs.name == "ascii", "-ascii")
        self.set_class(settings.transparent, "-transparent")
        if self.main is not None:
            self.main.composer.vi = settings.vim
            self.main.draw()

    def _linked(self, link: Link) -> None:
        if self.main is not None:
            self.main.linked(link)
        elif isinstance(self.screen, Starting) and link.problem:
            self.screen.failed(link.problem, goes_on=True)

    def on_main_settings_moved(self) -> None:
        self.run_worker(self.configure, name="settings", group="settings", exclusive=True)

    # Leaving

    @property
    def farewell(self) -> str:
        """What is said when the screen is given back: which session it was, and how to come back to it."""
        session = self.main.live.view.sessions.get(self.main.session_id) if self.main is not None else None
        if self.main is None or session is None:
            return ""
        others = (one for one in recent_sessions(self.main.live.view) if one.id != session.id)
        is_last = all(one.updated_at < session.updated_at for one in others)
        how = "--continue" if is_last else f"--session {session.id[:ID_LETTERS]}"
        return f"{one_line(session.title) or 'Untitled'}: turnkeeper {how}"

    def on_starting_again(self) -> None:
        self._retry.set()

    async def leave(self) -> None:
        """Say goodbye and go. Runs go on without us."""
        if self.main is not None:
            await self.main.put_away()
        self._leaving.set()
        self._retry.set()
        with anyio.move_on_after(GOODBYE_SECONDS):
            await self._left.wait()
        self.exit(0)

    async def action_leave(self) -> None:
        self.run_worker(self.leave, name="leaving", group="leaving", exclusive=True)

    async def action_quit(self) -> None:
        """Copy what is selected; else close what stands over the conversation; else ask whether to leave."""
        if selected := self.screen.get_selected_text():
            self.copy_to_clipboard(selected)
            self.screen.clear_selection()
            self.say("Copied.")
        elif self.main is None or isinstance(self.screen, Quit):
            await self.action_leave()
        elif self.screen is self.main:
            self.push_screen(Quit(self.main.live, self.main.session_id))
        else:
            await self.screen.run_action("close")

    def action_suspend(self) -> None:
        self.action_suspend_process()


def problem_in(error: BaseException) -> Problem:
    """The problem that ended a connection, however it is wrapped; what is none is a defect, and is raised."""
    match error:
        case Problem():
            return error
        case BaseExceptionGroup(exceptions=(inner,)):
            return problem_in(inner)
        case _:
            raise error
