"""How the terminal looks as a whole: each screen in two sizes and two themes. Each was looked at before it was kept."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from textual.pilot import Pilot
from textual.widgets import Input, TextArea

from tests.client.scene import served
from tests.tui.scene import At, another, snapshot, until
from turnkeeper.client.events import Link, LinkState
from turnkeeper.client.http import ServerUnreachable
from turnkeeper.models.scripted import CallTool, Hold, Say, Turn, turn
from turnkeeper.protocol.requests import Grant, Rule, Verdict
from turnkeeper.protocol.wire_changes import ChangeView, JobRow, Settled
from turnkeeper.protocol.wire_overview import JobOutput, Wait, WaitKind, Why
from turnkeeper.testing.scene import PlainTool
from turnkeeper.tools.todos import todos_tool
from turnkeeper.tools.tool import Call, Hands
from turnkeeper.tui.app import Terminal
from turnkeeper.tui.dialogs import logs
from turnkeeper.tui.dialogs.dialog import Dialog
from turnkeeper.tui.live import Live
from turnkeeper.tui.starting import Starting
from turnkeeper.tui.themes import DARK, LIGHT

SIZES = ((120, 40), (80, 24))
THEMES = {"dark": DARK.name, "light": LIGHT.name}
BEGAN_MS = 1_700_000_000_000
NOW = BEGAN_MS / 1000 + 125.5
"""Two minutes after the server's clock begins, and away from where a number of seconds turns."""
BEFORE = 'def greet(name):\n    print("Hello " + name)\n    return None\n'
AFTER = 'def greet(name: str) -> None:\n    print(f"Hello, {name}!")\n'
CHANGES = [
    ChangeView("/front/src/greeting.py", BEFORE, AFTER),
    ChangeView("/front/docs/notes/how-greetings-are-put-together.md", None, "# Greetings\n\nOne for each.\n"),
]
TODOS = {
    "todos": [
        {"content": "Find the bug", "status": "completed", "active_form": "Finding the bug"},
        {"content": "Run the tests", "status": "in_progress", "active_form": "Running the tests"},
        {"content": "Write down why", "status": "pending", "active_form": "Writing down why"},
    ]
}
ANSWER = (
    "The greeting is put together in **one place**, so that is where it is mended:\n\n"
    '```python\ndef greet(name: str) -> None:\n    print(f"Hello, {name}!")\n```\n\n'
    "- `src/greeting.py` says it in one string\n- the tests pass\n\n"
)
JOB = JobRow("001", "", "python -m http.server 8000", "Serve the pages", "running", BEGAN_MS)
LOG = [
    "2026-01-05 10:00:00 info  listening path=/run/user/1000/turnkeeper.sock",
    "2026-01-05 10:00:01 info  workspace opened path=/front",
    "2026-01-05 10:00:07 warning  provider slow provider=scripted seconds=12.5 attempt=1 of=8 retry_after=2.0",
    "2026-01-05 10:00:09 error  tool failed tool=bash why=the command cannot be started: there is no such program",
]


def tool(name: str, said: str) -> PlainTool:
    async def act(call: Call, hands: Hands) -> str:
        del call, hands
        return said

    return PlainTool(name, act)


TOOLS = [tool("bash", "..........\n10 passed in 0.21s\n"), todos_tool()]
WORK = turn(
    Say("I look at the tests first."),
    CallTool("c1", "bash", {"command": "python -m pytest -q", "description": "Run the tests"}),
    CallTool("c2", "todos", TODOS),
)
ANSWERED = turn(Say(ANSWER))
HELD = turn(Say(f"{ANSWER}What is left is to say why"), Hold("gate"))


@asynccontextmanager
async def sitting(*turns: Turn) -> AsyncGenerator[At]:
    """A terminal whose clock stands still, and bob at the same server, who is `workspace`."""
    async with (
        served(*turns, tools=TOOLS) as server,
        server.workspace(name="bob@desk") as bob,
        bob.follow() as heard,
        another(server, bob, now=lambda: NOW) as at,
    ):
        await anext(heard)
        yield at


async def looked_at(app: Terminal, pilot: Pilot[Any], name: str) -> None:
    """Compared with how it looked, in every size and theme."""
    app.clear_notifications()
    for width, height in SIZES:
        await pilot.resize_terminal(width, height)
        for kind, theme in THEMES.items():
            app.theme = theme
            still(app)
            for _ in range(2):
                await pilot.pause()
            snapshot(app, f"{name}-{width}-{kind}")


def still(app: Terminal) -> None:
    """What turns or blinks stands still, at its first sign."""
    for blinking in app.screen.query("Input, TextArea"):
        assert isinstance(blinking, Input | TextArea)
        blinking.cursor_blink = False
    if app.main is not None and app.main.status._timer is not None:
        app.main.status._timer.pause()
        app.main.status.turn = 0


async def sent(at: At, text: str) -> str:
    """A prompt on its way, in the session that is shown; its id."""
    await at.type(f"{text}\n")
    await at.until(lambda: at.app.main is not None and at.app.main.session_id)
    assert at.app.main is not None
    return at.app.main.session_id


def knows(at: At, monkeypatch: pytest.MonkeyPatch) -> None:
    """There are changed files and a command in the background, without a disk or a shell."""

    async def changes(_: str) -> list[ChangeView]:
        return CHANGES

    async def jobs(_: str = "") -> list[JobRow]:
        return [JOB]

    async def output(*_: object, after: int = 0) -> JobOutput:
        return JobOutput("" if after else "Serving HTTP on 0.0.0.0 port 8000 ...\n", 1)

    monkeypatch.setattr(at.live.workspace.files, "changes", changes)
    for name, does in (("all", jobs), ("list", jobs), ("output", output)):
        monkeypatch.setattr(at.live.workspace.jobs, name, does)


async def test_the_landing_looks_as_it_was_kept() -> None:
    async with sitting(ANSWERED) as at:
        await at.shows("Scripted by scripted", "⏎ send")
        await looked_at(at.app, at.pilot, "landing-first")
        for title in ("Mend the greeting", "Why does the build take so long?", "A" * 100):
            await at.workspace.sessions.create(title)
        await at.shows("Mend the greeting", "Why does", "AAAA")
        await looked_at(at.app, at.pilot, "landing-sessions")


async def test_the_conversation_and_what_is_around_it_look_as_they_were_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    async with sitting(WORK, HELD) as at:
        knows(at, monkeypatch)
        session_id = await sent(at, "Mend the greeting, please.")
        await at.workspace.sessions.rename(session_id, "Mend the greeting")
        await at.workspace.select(session_id)
        await at.shows("say why", "Changed files", "http.server", "bob@desk", "To-do 1/3", "Mend the greeting")
        await looked_at(at.app, at.pilot, "main-working")
        await at.type("Then the docs.\n")
        await at.until(lambda: len(at.live.view.waiting(session_id)) == 1)
        await at.workspace.runs.submit(session_id, "And when all of that is done, the changelog, too, in one sentence")
        await at.shows("2 waiting", "changelog")
        await looked_at(at.app, at.pilot, "main-queue")
        assert at.app.main is not None
        at.app.main.linked(Link(LinkState.RECONNECTING, NOW - 5, 3, "the server closed the connection"))
        await at.shows("has been away for 5s")
        await looked_at(at.app, at.pilot, "main-reconnecting")


async def test_what_is_seen_before_there_is_a_server_looks_as_it_was_kept() -> None:
    waits = True

    @asynccontextmanager
    async def connect() -> AsyncGenerator[Live]:
        if waits:
            await reached.wait()
        raise ServerUnreachable("the server at unix:///run/turnkeeper.sock does not answer: connection refused")
        yield

    reached = anyio.Event()
    app = Terminal(connect, env={"LANG": "C.UTF-8", "TERM": "xterm-256color"})
    async with app.run_test(size=SIZES[0], notifications=True) as pilot:
        await until(pilot, lambda: isinstance(app.screen, Starting))
        await looked_at(app, pilot, "starting")
        reached.set()
        await until(pilot, lambda: "does not answer" in str(app.screen.query_one("#what").render()))
        await looked_at(app, pilot, "starting-failed")


Prepare = Callable[[At, pytest.MonkeyPatch], Awaitable[None]]


async def nothing(at: At, monkeypatch: pytest.MonkeyPatch) -> None:
    del at, monkeypatch


async def waits(at: At, monkeypatch: pytest.MonkeyPatch) -> None:
    async def why(session_id: str) -> Why:
        since = BEGAN_MS + 60_000
        asks = Wait(WaitKind.PERMISSION, "bash: make all", since)
        child = Wait(WaitKind.TOOL, "agent: look for every greeting", since, since + 600_000, session_id="child")
        return Why(session_id, BEGAN_MS + 125_500, busy=True, since=BEGAN_MS, steps=3, waits=(asks, child), queued=2)

    monkeypatch.setattr(at.live.workspace.overview, "why", why)


async def decides(at: At, monkeypatch: pytest.MonkeyPatch) -> None:
    async def grants() -> list[Grant]:
        rules = (Rule(Verdict.ALLOW, "bash", "execute", "git commit:*"), Rule(Verdict.ALLOW, "edit", "", "docs/**"))
        scopes = ("session", "always")
        return [
            Grant(f"g{at}", rule, scope, granted_at=BEGAN_MS // 1000)
            for at, (rule, scope) in enumerate(zip(rules, scopes, strict=True))
        ]

    async def audit() -> list[Settled]:
        said = (("allowed", at.live.me, ""), ("denied", "", "a rule of the settings"))
        return [
            Settled(f"p{n}", "", "r", "bash", "git push --force", decision, by=by, reason=reason, at=BEGAN_MS)
            for n, (decision, by, reason) in enumerate(said)
        ]

    monkeypatch.setattr(at.live.workspace.permissions, "grants", grants)
    monkeypatch.setattr(at.live.workspace.permissions, "audit", audit)


async def logged(at: At, monkeypatch: pytest.MonkeyPatch) -> None:
    def server(*_: object, **__: object) -> SimpleNamespace:
        return SimpleNamespace(log_file=Path("/home/bob/.local/share/turnkeeper/server.log"))

    def lines(_: Path) -> list[str]:
        return LOG

    del at
    monkeypatch.setattr(logs, "local_server", server)
    monkeypatch.setattr(logs, "last_lines", lines)


async def files(at: At, monkeypatch: pytest.MonkeyPatch) -> None:
    knows(at, monkeypatch)


DIALOGS: dict[str, tuple[Prepare, str]] = {
    "quit": (nothing, "Nothing is running"),
    "palette": (nothing, "summarize"),
    "help": (nothing, "Everywhere"),
    "theme": (nothing, "turnkeeper-dark"),
    "settings": (nothing, "Notifications"),
    "why": (waits, "2 more wait in line"),
    "files": (files, "greetings-are-put"),
    "jobs": (files, "Serving HTTP"),
    "permissions": (decides, "git commit:*"),
    "logs": (logged, "workspace opened"),
    "rename": (nothing, "Another title"),
    "export": (nothing, "Export this conversation"),
}


async def test_every_dialog_looks_as_it_was_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    async with sitting(ANSWERED) as at:
        session_id = await sent(at, "Mend the greeting, please.")
        await at.workspace.sessions.rename(session_id, "Mend the greeting")
        await at.shows("the tests pass", "Mend the greeting")
        for name, (prepare, shown) in DIALOGS.items():
            await prepare(at, monkeypatch)
            assert at.app.main is not None
            at.app.main._call(name)
            await at.until(lambda: isinstance(at.app.screen, Dialog))
            await at.shows(shown)
            await looked_at(at.app, at.pilot, f"dialog-{name}")
            if name == "permissions":
                await at.press("tab")
                await at.shows("git push")
                await looked_at(at.app, at.pilot, "dialog-decisions")
            await at.press("escape")
            await at.until(lambda: at.app.screen is at.app.main)
