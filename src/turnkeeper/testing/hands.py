"""Hands for a tool under test: everything it asks for is remembered in order, and answered by a script.

Promises what the port promises, without a store: what was written is there on the next read, verdicts come from
`judge`, answers from `answers`, a sub-agent's text from `delegated`. Two hands that share a `FakeMemory` are two
sessions of one workspace.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from turnkeeper.core.file_history import found
from turnkeeper.protocol.ids import MessageId, RunId, SessionId, ToolCallId
from turnkeeper.protocol.requests import Answers, Question
from turnkeeper.protocol.sessions import FileRead, FileVersion, Todo
from turnkeeper.tools.tool import Asking, Denied

Judge = Callable[[Asking], Denied | None]

SESSION = SessionId("session-1")
RUN = RunId("run-1")
MESSAGE = MessageId("message-1")
CALL = ToolCallId("call-1")


def allow(_: Asking) -> Denied | None:
    """Somebody who agrees to everything."""
    return None


def deny(_: Asking) -> Denied | None:
    """Somebody who agrees to nothing."""
    return Denied()


def only_safe(asking: Asking) -> Denied | None:
    """Nobody is there: what the tool itself knows to be harmless goes, the rest does not."""
    return None if asking.safe else Denied("nobody is there to ask", by_person=False)


def in_turn(*verdicts: bool) -> Judge:
    """Somebody who answers as scripted; being asked more often than that is an error of the test."""
    left = list(verdicts)

    def judge(asking: Asking) -> Denied | None:
        assert left, f"asked once more than the script has verdicts: {asking.subject}"
        return None if left.pop(0) else Denied()

    return judge


@dataclass
class FakeMemory:
    """What the sessions of one workspace remember."""

    reads: dict[tuple[SessionId, str], FileRead] = field(default_factory=dict[tuple[SessionId, str], FileRead])
    versions: list[FileVersion] = field(default_factory=list[FileVersion])
    todos: dict[SessionId, tuple[Todo, ...]] = field(default_factory=dict[SessionId, tuple[Todo, ...]])


@dataclass(frozen=True)
class Deed:
    """One thing a tool did through its hands: `permit`, `begin`, `seen`, `changed`, `question`, `delegate`, `todos`."""

    what: str
    subject: str


@dataclass
class FakeHands:
    """The hands of one tool call after another of one session."""

    workdir: Path
    data_dir: Path = Path()
    session_id: SessionId = SESSION
    run_id: RunId = RUN
    message_id: MessageId = MESSAGE
    tool_call_id: ToolCallId = CALL
    supports_images: bool = True
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    judge: Judge = allow
    answers: Callable[[Sequence[Question]], Answers] = lambda questions: Answers(cancelled=True)
    delegated: Callable[[str], str] = lambda prompt: f"done: {prompt}"
    memory: FakeMemory = field(default_factory=FakeMemory)
    deeds: list[Deed] = field(default_factory=list[Deed])
    asked: list[Asking] = field(default_factory=list[Asking])
    shown: list[str] = field(default_factory=list[str])
    delegations: list[dict[str, str]] = field(default_factory=list[dict[str, str]])

    def __post_init__(self) -> None:
        if self.data_dir == Path():
            self.data_dir = self.workdir / ".turnkeeper"

    async def permit(self, asking: Asking) -> None:
        self.asked.append(asking)
        self._did("permit", asking.subject)
        if denied := self.judge(asking):
            raise denied

    async def begin(self, subject: str) -> None:
        self._did("begin", subject)

    async def begin_change(self, path: Path, *, before: str | None, form: str = "") -> None:
        await self.begin(str(path))
        known = await self.history(path)
        for content in found(known[-1] if known else None, before):
            self._remember(path, content, form)

    async def question(self, questions: Sequence[Question], *, title: str = "", description: str = "") -> Answers:
        self._did("question", title)
        return self.answers(questions)

    async def seen(self, path: Path, *, digest: str, mtime_ns: int) -> None:
        self._did("seen", str(path))
        self._saw(path, digest, mtime_ns)

    def _saw(self, path: Path, digest: str, mtime_ns: int) -> None:
        read = FileRead(session_id=self.session_id, path=str(path), at=0, digest=digest, mtime_ns=mtime_ns)
        self.memory.reads[self.session_id, str(path)] = read

    async def last_seen(self, path: Path) -> FileRead | None:
        return self.memory.reads.get((self.session_id, str(path)))

    async def changed(self, path: Path, *, after: str, digest: str, mtime_ns: int, form: str = "") -> None:
        self._did("changed", str(path))
        self._remember(path, after, form)
        self._saw(path, digest, mtime_ns)

    async def history(self, path: Path) -> Sequence[FileVersion]:
        return [
            version
            for version in self.memory.versions
            if version.session_id == self.session_id and version.path == str(path)
        ]

    async def todos(self) -> Sequence[Todo]:
        return self.memory.todos.get(self.session_id, ())

    async def set_todos(self, todos: Sequence[Todo]) -> None:
        self._did("todos", str(len(todos)))
        self.memory.todos[self.session_id] = tuple(todos)

    async def delegate(self, prompt: str, *, title: str, kind: str, workdir: Path | None = None) -> str:
        self._did("delegate", title)
        self.delegations.append({"prompt": prompt, "title": title, "kind": kind, "workdir": str(workdir or "")})
        return self.delegated(prompt)

    def progress(self, text: str) -> None:
        self.shown.append(text)

    def _did(self, what: str, subject: str) -> None:
        self.deeds.append(Deed(what, subject))

    def _remember(self, path: Path, content: str | None, form: str) -> None:
        number = 1 + max((known.version for known in self.memory.versions if known.path == str(path)), default=-1)
        self.memory.versions.append(
            FileVersion(
                id=f"{path}#{number}",
                session_id=self.session_id,
                path=str(path),
                content=content or "",
                version=number,
                run_id=self.run_id,
                absent=content is None,
                form=form,
            )
        )
