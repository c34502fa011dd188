"""A workspace's views in memory: the log, folded, with a way back.

Everything an append changes is noted in a journal, so that a refused append leaves no trace.
"""

from typing import Any

import msgspec

from turnkeeper.protocol.clients import ClientName
from turnkeeper.protocol.events import (
    ClientNamed,
    ConfigChanged,
    EffectNoted,
    Entry,
    FileSaid,
    FileSeen,
    Gate,
    GateMoved,
    GrantGiven,
    GrantRevoked,
    MessageDeleted,
    MessageReset,
    MessageSaid,
    PartSaid,
    PromptEdited,
    PromptSteered,
    QueueReordered,
    RequestAnswered,
    RequestAsked,
    RequestWithdrawn,
    RunAccepted,
    RunComplete,
    RunFolded,
    RunStarted,
    RunStopping,
    RunWaiting,
    SessionCreated,
    SessionDeleted,
    SessionRenamed,
    SkipSet,
    SummarySet,
    TodosSet,
    UsageCounted,
)
from turnkeeper.protocol.ids import START, WORKSPACE, MessageId, Position, RequestId, RunId, SessionId, ToolCallId
from turnkeeper.protocol.messages import Finish, Message, Part
from turnkeeper.protocol.problems import (
    Conflict,
    RequestSettled,
    RunNotFound,
    RunNotQueued,
    RunTaken,
    SessionNotFound,
    SessionTaken,
)
from turnkeeper.protocol.requests import Answer, Grant, Request
from turnkeeper.protocol.runs import Outcome, Prompt, Run, RunState, Usage
from turnkeeper.protocol.sessions import Effect, FileRead, FileVersion, SessionInfo
from turnkeeper.store.journal import Journal
from turnkeeper.store.rules import OUTLIVES_SESSION, TOUCHES_SESSION, PieceKey, holds_for, reordered, seconds
from turnkeeper.store.store import Piece, Settled


class Views(Journal):
    """Owns the views. `apply` may raise half way; `undo` then takes back everything since the last `keep`."""

    def __init__(self) -> None:
        super().__init__()
        self.ends: dict[SessionId, Position] = {WORKSPACE: START}
        """Where each session's part of the log ends; deleted sessions keep theirs."""
        self.sessions: dict[SessionId, SessionInfo] = {}
        self.changed: dict[SessionId, Position] = {}
        self.gates: dict[SessionId, Gate] = {}
        self.conversations: dict[SessionId, dict[MessageId, tuple[Position, Message]]] = {}
        self.places: dict[MessageId, SessionId] = {}
        self.parts: dict[MessageId, dict[int, Part]] = {}
        self.pieces: dict[MessageId, dict[PieceKey, str]] = {}
        self.runs: dict[RunId, tuple[Position, Run]] = {}
        self.line: dict[SessionId, dict[RunId, int]] = {}
        """The runs that have not ended, with their place."""
        self.requests: dict[RequestId, tuple[Position, SessionId, Request]] = {}
        self.settled: dict[RequestId, tuple[Position, Settled]] = {}
        self.files: dict[SessionId, dict[tuple[str, int], tuple[Position, FileVersion]]] = {}
        self.reads: dict[SessionId, dict[str, FileRead]] = {}
        self.grants: dict[str, tuple[Position, Grant]] = {}
        self.names: dict[str, tuple[Position, ClientName]] = {}
        self.effects: dict[SessionId, dict[ToolCallId, tuple[Position, Effect]]] = {}

    def apply(self, entry: Entry) -> None:
        session_id = entry.session_id
        self._check_session(entry)
        self._change(entry)
        self._put(self.ends, session_id, entry.position)
        info = self.sessions.get(session_id)
        if info is None:
            return
        if isinstance(entry.event, TOUCHES_SESSION):
            self._put(self.changed, session_id, entry.position)
            info = msgspec.structs.replace(info, updated_at=seconds(entry.at))
        self._put(self.sessions, session_id, msgspec.structs.replace(info, position=entry.position))

    def write_behind(self, piece: Piece) -> None:
        said = self.parts.get(piece.message_id)
        if said is not None and not any(isinstance(part, Finish) for part in said.values()):
            self.pieces.setdefault(piece.message_id, {})[piece.index, piece.part, piece.offset] = piece.text

    def _check_session(self, entry: Entry) -> None:
        known, here = entry.session_id in self.ends, entry.session_id in self.sessions
        if isinstance(entry.event, SessionCreated):
            if known:
                raise SessionTaken(entry.session_id)
        elif not here and not (known and isinstance(entry.event, OUTLIVES_SESSION)):
            raise SessionNotFound(entry.session_id)

    def _change(self, entry: Entry) -> None:
        match entry.event:
            case RunAccepted() | RunStarted() | RunFolded() | RunStopping() | RunComplete():
                self._run(entry, entry.event)
            case PromptEdited() | PromptSteered() | QueueReordered():
                self._queue(entry, entry.event)
            case RequestAsked() | RequestAnswered() | RequestWithdrawn():
                self._request(entry, entry.event)
            case MessageSaid() | PartSaid() | MessageReset() | MessageDeleted():
                self._message(entry, entry.event)
            case SessionCreated() | SessionDeleted() | GateMoved():
                self._session(entry, entry.event)
            case SessionRenamed() | TodosSet() | SummarySet() | UsageCounted():
                self._info(entry, entry.event)
            case FileSaid() | FileSeen() | EffectNoted():
                self._file(entry, entry.event)
            case GrantGiven(grant=grant):
                self._put(self.grants, grant.id, (entry.position, grant))
            case GrantRevoked(grant_id=grant_id):
                self._drop(self.grants, grant_id)
            case ClientNamed(client=client):
                self._put(self.names, client.client_id, (entry.position, client))
            case ConfigChanged() | SkipSet() | RunWaiting():
                pass

    def _run(self, entry: Entry, event: RunAccepted | RunStarted | RunFolded | RunStopping | RunComplete) -> None:
        match event:
            case RunAccepted():
                self._accept(entry, event)
            case RunStarted():
                if any(self.runs[run_id][1].state != RunState.QUEUED for run_id in self.line.get(entry.session_id, {})):
                    raise RunTaken(f"another run of session {entry.session_id} is active")
                self._alter(event.run_id, state=RunState.ACTIVE, started_at=entry.at)
            case RunStopping():
                self._alter(event.run_id, state=RunState.STOPPING)
            case RunFolded():
                self._end(entry, event.run_id, outcome=Outcome.FOLDED, folded_into=event.into)
            case RunComplete():
                usage = {"usage": event.usage} if event.usage != Usage() else {}
                self._end(
                    entry,
                    event.run_id,
                    outcome=event.outcome,
                    failure=event.failure,
                    text=event.text,
                    message_id=event.message_id,
                    steps=event.steps,
                    denied=event.denied,
                    **usage,
                )

    def _accept(self, entry: Entry, event: RunAccepted) -> None:
        if event.run_id in self.runs:
            raise RunTaken
        run = Run(
            id=event.run_id,
            session_id=entry.session_id,
            state=RunState.QUEUED,
            kind=event.run_kind,
            minted=event.minted,
            foldable=event.foldable,
            digest=event.digest,
            prompt=event.prompt,
            options=event.options,
            by=event.by,
            user_message_id=event.user_message_id,
            accepted_at=event.at or entry.at,
            parent=event.parent,
        )
        self._put(self.runs, run.id, (entry.position, run))
        self._put(self.line.setdefault(entry.session_id, {}), run.id, entry.position)

    def _alter(self, run_id: RunId, **facts: object) -> Run:
        if run_id not in self.runs:
            raise RunNotFound(run_id)
        position, run = self.runs[run_id]
        if run.state == RunState.ENDED:
            raise RunTaken
        changed = msgspec.structs.replace(run, **facts)
        self._put(self.runs, run_id, (position, changed))
        return changed

    def _end(self, entry: Entry, run_id: RunId, **facts: object) -> None:
        run = self._alter(run_id, state=RunState.ENDED, ended_at=entry.at, **facts)
        self._drop(self.line[run.session_id], run_id)

    def _queue(self, entry: Entry, event: PromptEdited | PromptSteered | QueueReordered) -> None:
        match event:
            case PromptEdited():
                self._alter_waiting(event.run_id, prompt=event.prompt)
            case PromptSteered():
                self._alter_waiting(event.run_id, foldable=event.foldable)
            case QueueReordered():
                line = self.line.get(entry.session_id, {})
                waiting = [(r, place) for r, place in line.items() if self.runs[r][1].state == RunState.QUEUED]
                for run_id, place in reordered(sorted(waiting, key=lambda at: at[1]), event.run_ids):
                    self._put(line, run_id, place)

    def _alter_waiting(self, run_id: RunId, **facts: object) -> None:
        if run_id in self.runs and self.runs[run_id][1].state != RunState.QUEUED:
            raise RunNotQueued(run_id)
        self._alter(run_id, **facts)

    def _request(self, entry: Entry, event: RequestAsked | RequestAnswered | RequestWithdrawn) -> None:
        match event:
            case RequestAsked(request=request):
                if request.id in self.requests or request.id in self.settled:
                    raise RequestSettled(request.id)
                self._put(self.requests, request.id, (entry.position, entry.session_id, request))
            case RequestAnswered(request_id=request_id, answer=answer, by=by):
                self._settle(entry, request_id, answer, by=by)
            case RequestWithdrawn(request_id=request_id, reason=reason):
                self._settle(entry, request_id, None, reason=reason)

    def _settle(
        self, entry: Entry, request_id: RequestId, answer: Answer | None, *, by: str = "", reason: str = ""
    ) -> None:
        if request_id not in self.requests:
            raise RequestSettled(request_id)
        _, _, request = self.requests[request_id]
        self._drop(self.requests, request_id)
        self._put(self.settled, request_id, (entry.position, Settled(request, answer, by, reason, entry.at)))

    def _message(self, entry: Entry, event: MessageSaid | PartSaid | MessageReset | MessageDeleted) -> None:
        match event:
            case MessageSaid(message=message):
                self._say(entry, message)
            case PartSaid(message_id=message_id, index=index, part=part) if message_id in self.places:
                self._put(self.parts[message_id], index, part)
                pieces = self.pieces.get(message_id, {})
                for key in [key for key in pieces if key[0] == index or isinstance(part, Finish)]:
                    self._drop(pieces, key)
                self._touch(message_id, entry.at)
            case MessageReset(message_id=message_id) if message_id in self.places:
                self._put(self.parts, message_id, {})
                self._drop(self.pieces, message_id)
                self._touch(message_id, entry.at)
            case MessageDeleted(message_id=message_id) if message_id in self.places:
                self._count(self.places[message_id], -1)
                self._forget(message_id)
            case _:
                pass

    def _say(self, entry: Entry, message: Message) -> None:
        if message.id in self.places:
            raise Conflict(f"a message with the id {message.id} exists")
        now = seconds(entry.at)
        said = msgspec.structs.replace(
            message,
            session_id=entry.session_id,
            parts=(),
            created_at=message.created_at or now,
            updated_at=message.updated_at or now,
        )
        self._put(self.places, said.id, entry.session_id)
        self._put(self.conversations.setdefault(entry.session_id, {}), said.id, (entry.position, said))
        self._put(self.parts, said.id, dict(enumerate(message.parts)))
        self._count(entry.session_id, 1)

    def _touch(self, message_id: MessageId, at: int) -> None:
        conversation = self.conversations[self.places[message_id]]
        position, message = conversation[message_id]
        self._put(conversation, message_id, (position, msgspec.structs.replace(message, updated_at=seconds(at))))

    def _forget(self, message_id: MessageId) -> None:
        self._drop(self.conversations[self.places[message_id]], message_id)
        self._drop(self.places, message_id)
        self._drop(self.parts, message_id)
        self._drop(self.pieces, message_id)

    def _count(self, session_id: SessionId, more: int) -> None:
        info = self.sessions[session_id]
        self._put(self.sessions, session_id, msgspec.structs.replace(info, message_count=info.message_count + more))

    def _session(self, entry: Entry, event: SessionCreated | SessionDeleted | GateMoved) -> None:
        match event:
            case SessionCreated(title=title, parent_id=parent_id, at=at):
                info = SessionInfo(entry.session_id, title, parent_id, created_at=seconds(at or entry.at))
                self._put(self.sessions, entry.session_id, info)
                self._put(self.gates, entry.session_id, Gate.OPEN)
            case SessionDeleted():
                self._delete(entry.session_id)
            case GateMoved(gate=gate):
                self._put(self.gates, entry.session_id, gate)

    def _delete(self, session_id: SessionId) -> None:
        for message_id in list(self.conversations.get(session_id, {})):
            self._forget(message_id)
        for run_id, (position, run) in self.runs.items():
            if run.session_id == session_id:
                bare = msgspec.structs.replace(run, prompt=Prompt(""), text="")
                self._put(self.runs, run_id, (position, bare))
        for request_id in [key for key, (_, owner, _) in self.requests.items() if owner == session_id]:
            self._drop(self.requests, request_id)
        for grant_id in [key for key, (_, grant) in self.grants.items() if holds_for(grant, session_id)]:
            self._drop(self.grants, grant_id)
        tables: list[dict[SessionId, Any]] = [self.files, self.reads, self.effects, self.gates, self.changed]
        for table in [*tables, self.conversations, self.sessions]:
            self._drop(table, session_id)

    def _info(self, entry: Entry, event: SessionRenamed | TodosSet | SummarySet | UsageCounted) -> None:
        info = self.sessions[entry.session_id]
        match event:
            case SessionRenamed(title=title, by_person=by_person):
                kept = info.titled_by_person and not by_person  # a person's name is replaced by a person's alone
                facts: dict[str, Any] = {} if kept else {"title": title, "titled_by_person": by_person}
            case TodosSet(todos=todos):
                facts = {"todos": todos}
            case SummarySet(message_id=message_id):
                facts = {"summary_message_id": message_id}
            case UsageCounted(usage=usage, prompt_tokens=prompt, completion_tokens=completion):
                facts = {"cost": info.cost + usage.cost, "estimated_usage": usage.estimated}
                facts |= {} if prompt is None else {"prompt_tokens": prompt}
                facts |= {} if completion is None else {"completion_tokens": completion}
                if event.run_id is not None and event.run_id in self.runs:
                    position, run = self.runs[event.run_id]
                    counted = msgspec.structs.replace(run, usage=run.usage + usage)
                    self._put(self.runs, event.run_id, (position, counted))
        self._put(self.sessions, entry.session_id, msgspec.structs.replace(info, **facts))

    def _file(self, entry: Entry, event: FileSaid | FileSeen | EffectNoted) -> None:
        match event:
            case FileSaid(file=file):
                versions = self.files.setdefault(entry.session_id, {})
                if (file.path, file.version) in versions:
                    raise Conflict(f"version {file.version} of {file.path} exists")
                said = msgspec.structs.replace(file, session_id=entry.session_id)
                self._put(versions, (file.path, file.version), (entry.position, said))
            case FileSeen(read=read):
                seen = msgspec.structs.replace(read, session_id=entry.session_id)
                self._put(self.reads.setdefault(entry.session_id, {}), read.path, seen)
            case EffectNoted(effect=effect):
                noted = msgspec.structs.replace(effect, session_id=entry.session_id)
                of_session = self.effects.setdefault(entry.session_id, {})
                self._put(of_session, effect.tool_call_id, (entry.position, noted))
