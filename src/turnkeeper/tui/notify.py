"""Word for a person who looks elsewhere: a run has ended, or something waits for an answer.

What is news is decided by pure functions over two views; how it is told is a sequence of bytes for the terminal, or a
command of the desktop. Nothing that a model or a program said reaches the terminal as a control character.
"""

import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from turnkeeper.client.view import View
from turnkeeper.protocol.runs import Outcome
from turnkeeper.protocol.wire_own import RunView

TEXT_CHARS_MAX = 120
DESKTOP_SECONDS = 5.0
PROGRESS_PROGRAMS = frozenset(("ghostty", "iTerm.app", "rio", "WezTerm"))


@dataclass(frozen=True, slots=True)
class News:
    title: str
    text: str


def news(before: View, now: View, sessions: frozenset[str], me: str) -> Iterator[News]:
    """What a person who looks elsewhere should hear of these sessions, and of what they themselves asked for."""
    for id, run in now.runs.items():
        known = before.runs.get(id)
        is_ours = run.session_id in sessions or (run.by == me and bool(me))
        if is_ours and run.has_ended and known is not None and not known.has_ended and (said := _ending(run)):
            yield News(f"{said}: {_title(now, run.session_id)}", run.text or run.prompt)
    for id, request in now.permissions.items():
        if id not in before.permissions and request.session_id in sessions:
            yield News(f"May it? {_title(now, request.session_id)}", f"{request.tool_name}: {request.description}")
    for id, questions in now.questions.items():
        if id not in before.questions and questions.session_id in sessions:
            asked = questions.questions[0].question if questions.questions else ""
            yield News(f"A question: {_title(now, questions.session_id)}", asked)


def _ending(run: RunView) -> str:
    """A word for how it ended; none for what nobody waits for."""
    if run.parent or run.outcome in (Outcome.CANCELLED.value, Outcome.FOLDED.value):
        return ""
    return "Done" if run.outcome == Outcome.COMPLETED.value else "Failed"


def _title(view: View, session_id: str) -> str:
    session = view.sessions.get(session_id)
    return (session.title if session else "") or "a session"


def style_here(wish: str, env: Mapping[str, str]) -> str:
    """How to tell it here: as wished; else by the desktop on this computer, and through the terminal elsewhere."""
    if wish != "auto":
        return wish
    if env.get("SSH_CONNECTION") or env.get("TMUX"):
        return "osc"
    return "native" if desktop_command(News("", "")) else "osc"


def sequence(style: str, told: News) -> str:
    """What to write to the terminal: nothing where it is told in another way."""
    title, text = clean(told.title), clean(told.text)
    match style:
        case "osc":
            # Terminals know one of two ways; those that know neither ring.
            return f"\x1b]777;notify;{title.replace(';', ',')};{text.replace(';', ',')}\x1b\\\x1b]9;{title}\x1b\\\x07"
        case "bell":
            return "\x07"
        case _:
            return ""


def desktop_command(told: News) -> list[str] | None:
    """The command that shows it on this computer's desktop, if there is one."""
    title, text = clean(told.title), clean(told.text)
    if sys.platform == "darwin" and shutil.which("osascript"):
        script = "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run"
        return ["osascript", "-e", script, title, text]
    if shutil.which("notify-send"):
        return ["notify-send", "--app-name=turnkeeper", "--", title, text]
    return None


def show_on_desktop(told: News) -> bool:
    """Whether it could be shown. It takes as long as the desktop takes, so it is called in a thread."""
    command = desktop_command(told)
    if command is None:
        return False
    try:
        ended = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=DESKTOP_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return ended.returncode == 0


def knows_progress(env: Mapping[str, str]) -> bool:
    """Whether the terminal shows progress in its tab or task bar."""
    return bool(env.get("WT_SESSION")) or env.get("TERM_PROGRAM", "") in PROGRESS_PROGRAMS


def progress(is_busy: bool) -> str:
    return "\x1b]9;4;3;0\x07" if is_busy else "\x1b]9;4;0;0\x07"


def window_title(text: str) -> str:
    return f"\x1b]2;{clean(text)}\x07"


def clean(text: str) -> str:
    """One line without anything a terminal would obey."""
    flat = "".join(char if char.isprintable() else " " for char in " ".join(text.split()))
    return flat if len(flat) <= TEXT_CHARS_MAX else flat[: TEXT_CHARS_MAX - 1] + "…"
