"""What the house lends to one tool call: permissions, questions, file history, todos, sub-agents, live output.

Everything a tool writes through here is durable when the call returns, and is written by the run: when the run is
over, nothing more is written.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import anyio

from turnkeeper.core.file_history import Content, found
from turnkeeper.engine.asking import permit, put_questions
from turnkeeper.engine.running import Running
from turnkeeper.engine.sub_agent import delegate
from turnkeeper.engine.versions import record
from turnkeeper.protocol import events as e
from turnkeeper.protocol.ids import NO_MESSAGE, MessageId, RunId, SessionId, ToolCallId
from turnkeeper.protocol.letters import whole
from turnkeeper.protocol.messages import Delta, PartKind, ToolCall
from turnkeeper.protocol.requests import Answers, Question
from turnkeeper.protocol.sessions import Effect, EffectState, FileRead, FileVersion, Todo
from turnkeeper.tools.tool import Asking, Call

Contents = Callable[[FileVersion | None], Sequence[Content]]


class CallHands:
    """The hands of one call of one run."""

    def __init__(self, running: Running, call: Call, *, approved: bool = False, demand: str = "") -> None:
        self._running = running
        self._call = call
        self._approved = approved
        self._demand = demand
        self._is_seen = False
        # What the call was shown with is what it runs with, though the settings change while somebody thinks.
        self._env = running.workspace.means.env
        self._begun: FileVersion | None = None
        """The last version of the file whose change was begun."""
        self._shown = 0
        self._index = _index(running, call.id)

    @property
    def workdir(self) -> Path:
        own = self._running.run.options.workdir
        return Path(own) if own else self._running.workspace.means.path

    @property
    def data_dir(self) -> Path:
        return self._running.workspace.means.data_dir

    @property
    def session_id(self) -> SessionId:
        return self._running.session.id

    @property
    def run_id(self) -> RunId:
        return self._running.run.run_id

    @property
    def message_id(self) -> MessageId:
        return self._running.last.id if self._running.last else NO_MESSAGE

    @property
    def tool_call_id(self) -> ToolCallId:
        return self._call.id

    @property
    def supports_images(self) -> bool:
        return self._running.info.supports_images

    @property
    def env(self) -> Mapping[str, str]:
        return self._env

    async def permit(self, asking: Asking) -> None:
        approved, demand = self._approved, self._demand
        await permit(self._running, self._call, asking, approved=approved, env=self._env, demand=demand)
        self._is_seen = True

    async def look(self) -> None:
        """Show the call to a person if that is demanded and the tool itself has asked for nothing."""
        if self._demand and not self._is_seen:
            name, where = self._call.name, str(self.workdir)
            await self.permit(Asking(name, "use", f"Use {name}", where, "", self._call.input))

    async def begin(self, subject: str) -> None:
        await self.look()
        await self._running.say(e.EffectNoted(self._started(subject)))

    async def begin_change(self, path: Path, *, before: str | None, form: str = "") -> None:
        await self.look()
        started = e.EffectNoted(self._started(str(path)))
        self._begun = await self._record(path, lambda last: found(last, before), started, form)

    async def question(self, questions: Sequence[Question], *, title: str = "", description: str = "") -> Answers:
        await self.look()
        return await put_questions(self._running, self._call, questions, title=title, description=description)

    async def seen(self, path: Path, *, digest: str, mtime_ns: int) -> None:
        await self._running.say(self._sight(path, digest, mtime_ns))

    async def last_seen(self, path: Path) -> FileRead | None:
        return await self._running.workspace.means.store.file_read(self.session_id, str(path))

    async def changed(self, path: Path, *, after: str, digest: str, mtime_ns: int, form: str = "") -> None:
        last = self._begun if self._begun and self._begun.path == str(path) else None
        # The change is on disk already: it is recorded even if the run is being stopped at this moment.
        with anyio.CancelScope(shield=True):
            sight = self._sight(path, digest, mtime_ns)
            await self._record(path, lambda _: (after,), sight, form, run_id=self.run_id, last=last)

    async def todos(self) -> Sequence[Todo]:
        session = await self._running.workspace.means.store.session(self.session_id)
        return session.todos if session else ()

    async def set_todos(self, todos: Sequence[Todo]) -> None:
        await self.look()
        await self._running.say(e.TodosSet(tuple(todos)))

    async def delegate(self, prompt: str, *, title: str, kind: str, workdir: Path | None = None) -> str:
        await self.look()
        return await delegate(self._running, self._call, prompt, title=title, kind=kind, workdir=workdir)

    def progress(self, text: str) -> None:
        means, text = self._running.workspace.means, whole(text)
        delta = Delta(self.session_id, self.message_id, self._index, PartKind.OUTPUT, self._shown, text)
        self._shown += len(text)
        means.broker.whisper(means.id, delta)

    def _started(self, subject: str) -> Effect:
        now = self._running.workspace.means.now()
        effect = Effect(
            tool_call_id=self._call.id,
            session_id=self.session_id,
            run_id=self.run_id,
            tool=self._call.name,
            state=EffectState.STARTED,
            subject=subject,
            at=now,
            started_at=now,
        )
        # What is told at the end says what was acted on, too.
        self._running.begun[self._call.id] = effect
        return effect

    def _sight(self, path: Path, digest: str, mtime_ns: int) -> e.FileSeen:
        now = self._running.workspace.means.now()
        return e.FileSeen(FileRead(self.session_id, str(path), now // 1000, digest, mtime_ns))

    async def _record(
        self,
        path: Path,
        contents: Contents,
        fact: e.EffectNoted | e.FileSeen,
        form: str,
        *,
        run_id: RunId | None = None,
        last: FileVersion | None = None,
    ) -> FileVersion | None:
        say, means = self._running.say, self._running.workspace.means
        facts = [fact]
        return await record(
            means, say, self.session_id, str(path), contents, run_id=run_id, beside=facts, last=last, form=form
        )


def _index(running: Running, call_id: ToolCallId) -> int:
    parts = running.last.parts if running.last else ()
    return next((at for at, part in enumerate(parts) if isinstance(part, ToolCall) and part.id == call_id), 0)
