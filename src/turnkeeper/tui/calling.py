"""What people call by name, from the palette, after a `/`, or by a key: which function does it.

`tui/commands.py` has the names, and every one of them is in a table here: those that open a dialog, which is imported
when it is opened, and those that do something at once.
"""

import importlib
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.screen import ModalScreen

from turnkeeper.protocol.config import Scope
from turnkeeper.protocol.wire_own import RunView
from turnkeeper.tui import commands, wishes
from turnkeeper.tui.doing import ASKING
from turnkeeper.tui.host import host_of
from turnkeeper.tui.keymap import key_of

if TYPE_CHECKING:
    from turnkeeper.tui.main import Main

Act = Callable[[], Awaitable[None]]

DIALOGS = {
    "sessions": "sessions:Sessions",
    "models": "models:Models",
    "rename": "line:Rename",
    "export": "line:Export",
    "files": "files:Files",
    "why": "why:WhyBusy",
    "jobs": "jobs:Jobs",
    "people": "people:People",
    "permissions": "permissions:Permissions",
    "providers": "providers:Providers",
    "settings": "settings:SettingsDialog",
    "theme": "theme:Themes",
    "logs": "logs:Logs",
    "help": "help:Help",
    "palette": "palette:Palette",
    "quit": "quit:Quit",
}
"""By name the file and the class of a dialog. Each is made with what is live and the session that is shown."""
SURE_SECONDS = 3.0
NEED_SESSION = frozenset(("rename", "export", "files", "why", "summarize", "fork", "undo", "redo", "expand"))


class Calling:
    """Owns the table of what is done at once, and until when a key is pressed a second time for being sure."""

    def __init__(self, main: "Main") -> None:
        self._main = main
        self._sure_until = 0.0
        self._acts: dict[str, Act] = {
            "new": self._new,
            "summarize": self._summarise,
            "fork": self._fork,
            "undo": lambda: main.doing.undo(main.session_id),
            "redo": lambda: main.doing.redo(main.session_id),
            "queue": self._queue,
            "yolo": self._yolo,
            "yolo twice": self._yolo_twice,
            "timestamps": lambda: self._toggle("timestamps", not host_of(main).settings.timestamps),
            "vim": lambda: self._toggle("vim", not host_of(main).settings.vim),
            "expand": self._expand,
            "sidebar": self._sidebar,
            "editor": self._editor,
            "attach": self._attach,
            "init": self._init,
            "switch": self._switch,
            "answer": self._answer,
        }

    async def call(self, said: str) -> None:
        """Do what is called so; what there is not is said."""
        host = host_of(self._main)
        command = commands.named(said)
        name = command.name if command else said
        if name in NEED_SESSION and not self._main.session_id:
            host.say("There is no session yet: write something first, or open one with ctrl+s.", severity="warning")
        elif name in DIALOGS:
            self._main.app.push_screen(dialog(DIALOGS[name], self._main.live, self._main.session_id), self._granted)
        elif act := self._acts.get(name):
            await act()
        else:
            host.say(f"There is no command {said}; ctrl+p lists them.", severity="warning")

    def edit(self, run: RunView) -> None:
        """Give a waiting prompt another text."""
        self._main.app.push_screen(dialog("line:EditPrompt", self._main.live, run.run_id), self._granted)

    def request(self, request_id: str) -> ModalScreen[wishes.Wish | None]:
        """The dialog that asks what waits for an answer."""
        is_permission = request_id in self._main.live.view.permissions
        return dialog(
            "permission:PermissionDialog" if is_permission else "question:QuestionDialog", self._main.live, request_id
        )

    def _granted(self, wish: wishes.Wish | None) -> None:
        if wish is not None:
            self._main.run_worker(partial(self._grant, wish), group="calling")

    async def _grant(self, wish: wishes.Wish) -> None:
        main = self._main
        match wish:
            case wishes.Open(session_id):
                await main.open(session_id)
            case wishes.Call(name):
                await self.call(name)
            case wishes.Send(text):
                await main.send(text)
            case wishes.Put(text):
                main.composer.put(text)
            case wishes.Follow(client_id):
                await main.follow(client_id)
            case wishes.Edit(run_id, text):
                if run := main.live.view.runs.get(run_id):
                    await main.doing.edit(run, text)

    async def _new(self) -> None:
        await self._main.open("")

    async def _summarise(self) -> None:
        host_of(self._main).say("Summarising; esc esc stops it.", about="the summary")
        await self._main.doing.summarise(self._main.session_id)
        host_of(self._main).unsay("the summary")

    async def _fork(self) -> None:
        if copy := await self._main.doing.fork(self._main.session_id):
            await self._main.open(copy)
            host_of(self._main).say("This is a copy; what is said here does not change the session it came from.")

    async def _queue(self) -> None:
        queue = self._main.queue
        if queue.run is None:
            host_of(self._main).say("Nothing waits in this session.")
        elif queue.has_focus:
            self._main.composer.focus()
        else:
            queue.focus()

    @property
    def _asks(self) -> bool:
        live = self._main.live
        return all(one.client_id != live.me for one in live.view.unasked)

    async def _yolo(self) -> None:
        self._sure_until = 0.0
        await self._main.doing.ask_nobody(self._asks)

    async def _yolo_twice(self) -> None:
        """By its key: off at once, and on only by a second press; the same key pastes in most shells."""
        host = host_of(self._main)
        if not self._asks or host.now() < self._sure_until:
            await self._yolo()
            return
        self._sure_until = host.now() + SURE_SECONDS
        key = key_of("app.yolo", host.settings.keys)
        host.say(f"{key} again lets your runs ask nobody for permission.", severity="warning", about=ASKING)

    async def _toggle(self, key: str, value: bool) -> None:
        work = self._main.live.workspace.config.set(Scope.GLOBAL, f"options.tui.{key}", value)
        await self._main.live.attempt(work, "keep this setting")

    async def _expand(self) -> None:
        self._main.transcript.action_expand_all()

    async def _sidebar(self) -> None:
        self._main.side_wish = not self._main.has_class("-side")
        self._main.draw()

    async def _editor(self) -> None:
        await self._main.composer.run_action("outside")

    async def _attach(self) -> None:
        await self._main.composer.run_action("attach")

    async def _init(self) -> None:
        if prompt := await self._main.doing.init_prompt():
            await self._main.send(prompt)

    async def _switch(self) -> None:
        composer, transcript = self._main.composer, self._main.transcript
        (transcript if composer.has_focus_within and self._main.session_id else composer).focus()

    async def _answer(self) -> None:
        self._main.show_waiting()


def dialog(at: str, *about: Any) -> ModalScreen[wishes.Wish | None]:
    """The dialog of a file, imported when it is opened."""
    module, _, name = at.partition(":")
    return getattr(importlib.import_module(f"turnkeeper.tui.dialogs.{module}"), name)(*about)
