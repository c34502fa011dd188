"""What people ask for, done: prompts sent, runs stopped, sessions opened, the line put in order.

Every request goes to the server, which decides; what comes of it is seen when the view says so. What the server refuses
is told, and what somebody wrote is given back to them.
"""

import uuid
from collections.abc import Callable, Sequence

from turnkeeper.protocol.problems import NotFound, Problem
from turnkeeper.protocol.runs import Attachment
from turnkeeper.protocol.wire_changes import RestoredView, UndoRequest
from turnkeeper.protocol.wire_clients import ShellLine
from turnkeeper.protocol.wire_own import RunView
from turnkeeper.tui.chat.ink import counted
from turnkeeper.tui.host import Host
from turnkeeper.tui.live import Live
from turnkeeper.tui.side.activity import clock

TITLE = "New Session"
"""What the server replaces by a title of its own making."""
NOTHING = "there is nothing to"
ASKING = "what runs ask"
"""The matter of all that is said of whom runs ask for permission."""
SENT_ALONG_MAX = 16
"""For how many prompts what was attached is remembered here, in case they are taken out of the line."""

Give = Callable[[str, Sequence[Attachment]], None]
"""Puts a text back where it was written."""


class Doing:
    """Asks the server on behalf of one terminal. It owns what was sent along with prompts that may still come back."""

    def __init__(self, live: Live, host: Host, give_back: Give) -> None:
        self._live = live
        self._host = host
        self._give_back = give_back
        self._sent_along: dict[str, Sequence[Attachment]] = {}

    # Prompts

    async def begin(self) -> str:
        """A new session, for a first prompt; empty where there is none to be had."""
        session = await self._live.attempt(self._live.workspace.sessions.create(TITLE), "begin a session")
        return session.id if session else ""

    async def submit(self, session_id: str, text: str, attachments: Sequence[Attachment]) -> bool:
        """Sent once, however often the line breaks: the run is named before it is sent."""
        run_id = str(uuid.uuid4())
        try:
            await self._live.workspace.runs.submit(session_id, text, attachments=attachments, run_id=run_id)
        except Problem as problem:
            self._give_back(text, attachments)
            self._host.problem(problem, "send this; it is back where you wrote it")
            return False
        if attachments:
            self._sent_along[run_id] = attachments
            for oldest in list(self._sent_along)[:-SENT_ALONG_MAX]:
                del self._sent_along[oldest]
        return True

    async def shell(self, session_id: str, command: str, width: int) -> None:
        """A command of one's own, which the model can see afterwards."""
        try:
            await self._live.workspace.agent.shell(session_id, command, width=width)
        except Problem as problem:
            self._give_back(f"!{command}", ())
            self._host.problem(problem, "run this command")

    async def stop(self, session_id: str) -> None:
        """Stop what runs. What this terminal has in line is given back to be edited; what others have goes on."""
        view = self._live.view
        run, mine = view.active(session_id), [one for one in view.waiting(session_id) if one.by == self._live.me]
        # Each is given back before what is being written, so the last of the line goes first.
        for one in reversed(mine):
            await self.take_out(one)
        for line in view.running(session_id):
            await self._stop_line(line)
        if run is None:
            return
        stopped = await self._live.attempt(self._live.workspace.runs.cancel(run.run_id), "stop the run")
        if stopped is not None:
            lasted = (stopped.ended_at - (run.started_at or run.accepted_at)) / 1000
            steps = f" and {counted(stopped.steps, 'step')}" if stopped.steps else ""
            self._host.say(
                f"Stopped after {clock(lasted)}{steps}. What it had said and done is kept.", about="what was stopped"
            )

    async def _stop_line(self, line: ShellLine) -> None:
        try:
            await self._live.workspace.agent.stop_shell(line.session_id, line.id)
        except NotFound:
            return  # It has just ended.
        except Problem as problem:
            self._host.problem(problem, "stop the command")

    # The line

    async def take_out(self, run: RunView) -> None:
        """Out of the line, and back to whoever takes it out."""
        if await self._live.attempt(self._live.workspace.runs.cancel(run.run_id), "take it out of the line"):
            known = self._sent_along.pop(run.run_id, ())
            self._give_back(run.prompt, known)
            if len(known) < len(run.attachments):
                self._host.say("What was attached to it has to be attached again.", severity="warning")

    async def move(self, run: RunView, place: int) -> None:
        await self._live.attempt(self._live.workspace.runs.move(run.run_id, place), "move it in the line")

    async def send_now(self, run: RunView) -> None:
        """Let it join what is running at its next step."""
        if await self._live.attempt(self._live.workspace.runs.steer(run.run_id), "send it now"):
            self._host.say("It joins what is running at the next step.")

    async def edit(self, run: RunView, text: str) -> None:
        if text.strip() and text != run.prompt:
            await self._live.attempt(self._live.workspace.runs.edit(run.run_id, text), "change the prompt")

    async def release(self, session_id: str) -> None:
        await self._live.attempt(self._live.workspace.runs.release(session_id), "let the line go on")

    # The session

    async def summarise(self, session_id: str) -> None:
        await self._live.attempt(self._live.workspace.agent.summarize(session_id), "summarise the conversation")

    async def fork(self, session_id: str) -> str:
        """A session with the same past; empty where there is none to be had."""
        copy = await self._live.attempt(self._live.workspace.overview.fork(session_id), "fork the session")
        return copy.id if copy else ""

    async def undo(self, session_id: str) -> None:
        """Take back what the last run did to files, of those runs whose doings stand."""
        files = self._live.workspace.files
        versions = await self._live.attempt(files.history(session_id), "look at what was changed")
        runs = dict.fromkeys(str(one.run_id) for one in reversed(versions or []) if one.run_id)
        for run_id in runs:
            restored = await self._live.attempt(files.undo(session_id, UndoRequest(run_id=run_id)), "take it back")
            if restored is None or self._told(restored, "Taken back"):
                return
        self._host.say("There is nothing to take back.")

    async def redo(self, session_id: str) -> None:
        restored = await self._live.attempt(self._live.workspace.files.redo(session_id), "do it again")
        if restored is not None and not self._told(restored, "Done again"):
            self._host.say("There is nothing to do again.")

    def _told(self, restored: Sequence[RestoredView], word: str) -> bool:
        """Whether there was anything to tell."""
        told = told_restored(restored, word)
        for text, severity in told:
            self._host.say(text, severity=severity)
        return bool(told)

    async def ask_nobody(self, skip: bool) -> None:
        """From now on this terminal's runs ask nobody, or ask again."""
        try:
            await self._live.workspace.permissions.set_skip(skip)
        except Problem as problem:
            self._host.problem(problem, "change what is asked")
            return
        if skip:
            said = "Your runs ask nobody for permission now; the same key asks again."
            self._host.say(said, severity="warning", about=ASKING)
        else:
            self._host.say("Your runs ask again.", about=ASKING)

    async def init_prompt(self) -> str:
        """What to send so that the project gets described; empty where that cannot be learnt."""
        return await self._live.attempt(self._live.workspace.config.init_prompt(), "look at the project") or ""


def told_restored(restored: Sequence[RestoredView], word: str) -> list[tuple[str, str]]:
    """What became of files, to be said, and how grave it is. Where there was nowhere to go is no news."""
    done = [one.path for one in restored if not one.problem]
    wrong = [f"{one.path}: {one.problem}" for one in restored if one.problem and NOTHING not in one.problem]
    told = [(f"{word}: {', '.join(done)}", "information")] if done else []
    return [*told, ("\n".join(wrong), "warning")] if wrong else told
