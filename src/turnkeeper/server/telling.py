"""What the log says, in the wire's words: each entry becomes the lines a stream carries, encoded once for all watchers.

Two ways of telling:

- `whole`, the original's: a message that changed is told whole. What changes many times between two looks is told
  once, as it is then; what a watcher sees last is always how it is.
- `detail`, for our own clients: finished parts and fragments, runs and queues, each exactly once.
"""

from collections import OrderedDict
from collections.abc import Sequence
from enum import StrEnum
from weakref import proxy

import anyio

from turnkeeper.engine.feed import Given
from turnkeeper.engine.workspace import Workspace
from turnkeeper.protocol import events as e
from turnkeeper.protocol import wire_events as wire
from turnkeeper.protocol.events import Entry
from turnkeeper.protocol.ids import MessageId, SessionId
from turnkeeper.protocol.messages import Delta, Message, Role
from turnkeeper.protocol.requests import Answers, Decision, Permission, Request
from turnkeeper.protocol.runs import Outcome
from turnkeeper.protocol.sessions import SessionInfo
from turnkeeper.protocol.wire import EventType, encode, envelope, frame
from turnkeeper.protocol.wire_clients import Presence
from turnkeeper.protocol.wire_details import delta_to_wire
from turnkeeper.protocol.wire_messages import exact, merged
from turnkeeper.protocol.wire_requests import (
    PermissionNotification,
    QuestionNotification,
    permission_to_wire,
    questions_to_wire,
)
from turnkeeper.protocol.wire_sessions import file_to_wire, session_to_wire
from turnkeeper.protocol.wire_telling import ending_error, run_complete, told

WHOLE_MESSAGE_SECONDS = 0.033
TOLD_ENTRIES_MAX = 4096
TOLD_BYTES_MAX = 32 * 1024 * 1024


class Detail(StrEnum):
    WHOLE = "whole"
    DETAIL = "detail"


class Teller:
    """Owns what has been encoded of one workspace's newest entries, bounded in number and in bytes."""

    def __init__(self, workspace: Workspace, detail: Detail) -> None:
        # Not held: a teller is kept beside its workspace, and would keep it alive.
        self._workspace: Workspace = proxy(workspace)
        self.detail = detail
        self._told: OrderedDict[int, bytes] = OrderedDict()
        self._told_bytes = 0
        self._telling: dict[int, anyio.Event] = {}
        self._whole: dict[MessageId, tuple[int, bytes]] = {}
        self._present = (Presence(), b"")

    async def said(self, given: Given) -> bytes:
        """What is told of the entries or the deltas that a watcher was given."""
        if given.entries:
            entries = given.entries if self.detail is Detail.DETAIL else told_once(given.entries)
            return b"".join([self._told.get(entry.position) or await self.tell(entry) for entry in entries])
        if self.detail is Detail.DETAIL or not given.deltas:
            return fragments(given.deltas)
        # All watchers look at the same ticks, so that what they see is encoded once. The feed gathers what is
        # whispered meanwhile, so a slow eye costs nobody anything.
        await anyio.sleep(until_tick(anyio.current_time()))
        return b"".join([self.written(message_id) for message_id in changed(given.deltas)])

    async def tell(self, entry: Entry) -> bytes:
        """The entry's bytes; many watchers asking at once wait for the first."""
        while (said := self._told.get(entry.position)) is None:
            if busy := self._telling.get(entry.position):
                await busy.wait()
                continue
            self._telling[entry.position] = anyio.Event()
            try:
                self._keep(entry.position, await self._lines(entry))
            finally:
                self._telling.pop(entry.position).set()
        return said

    def _keep(self, position: int, said: bytes) -> None:
        self._told[position] = said
        self._told_bytes += len(said)
        while len(self._told) > TOLD_ENTRIES_MAX or (self._told_bytes > TOLD_BYTES_MAX and len(self._told) > 1):
            _, forgotten = self._told.popitem(last=False)
            self._told_bytes -= len(forgotten)

    async def _lines(self, entry: Entry) -> bytes:
        lines = await self._envelopes(entry)
        if not lines:
            return b""
        # Only the last line of an entry carries its position: whoever was cut before it gets the entry again, whole.
        return b"".join([*map(frame, lines[:-1]), frame(lines[-1], position=entry.position)])

    async def _envelopes(self, entry: Entry) -> list[bytes]:
        session_id = entry.session_id
        if self.detail is Detail.DETAIL:
            own = told(entry.event, session_id)
            lines = [] if own is None else [envelope(own[0], "updated", own[1])]
            if isinstance(entry.event, e.PartSaid | e.MessageReset | e.RunComplete):
                return [*await self._around_the_ending(entry), *lines]
            return [*lines, *await self._in_the_originals_words(entry)]
        return await self._in_the_originals_words(entry)

    async def _in_the_originals_words(self, entry: Entry) -> list[bytes]:  # noqa: C901 - one case an event
        session_id = entry.session_id
        match entry.event:
            case e.MessageSaid(message):
                return [envelope("message", "created", self._message(message))]
            case e.PartSaid(message_id) | e.MessageReset(message_id):
                return await self._changed_message(message_id)
            case e.MessageDeleted(message_id):
                gone = Message(id=message_id, session_id=session_id, role=Role.ASSISTANT)
                return [envelope("message", "deleted", merged(gone))]
            case e.SessionCreated():
                return await self._session(session_id, "created")
            case e.SessionRenamed() | e.UsageCounted() | e.TodosSet() | e.SummarySet():
                return await self._session(session_id, "updated")
            case e.SessionDeleted():
                return [envelope("session", "deleted", session_to_wire(SessionInfo(id=session_id)))]
            case e.FileSaid(file):
                return [envelope("file", "created", file_to_wire(file))]
            case e.RequestAsked(request):
                return asked(request, exact=self.detail is Detail.DETAIL)
            case e.RequestAnswered(unattended=True):
                return []
            case e.RequestAnswered() | e.RequestWithdrawn():
                return [settled(entry.event)]
            case e.RunComplete():
                ending = run_complete(entry.event, session_id, minted=entry.event.minted)
                around = await self._around_the_ending(entry)
                quiet = entry.event.minted and await self._never_ran(entry.event)
                return around if quiet else [*around, envelope("run_complete", "updated", ending)]
            case e.RunWaiting() as waiting:
                return signing_in(waiting, session_id)
            case e.ConfigChanged():
                changed = wire.ConfigChanged(self._workspace.means.id)
                return [envelope("config_changed", "updated", changed)]
            case _:
                return []

    async def _never_ran(self, ending: e.RunComplete) -> bool:
        """Whether a prompt was cancelled as it waited: nobody's ending, if nobody named it."""
        if ending.outcome is not Outcome.CANCELLED:
            return False
        run = await self._workspace.means.store.run(ending.run_id)
        return run is not None and not run.started_at

    async def _around_the_ending(self, entry: Entry) -> list[bytes]:
        """What the original says beside an ending: a turn finished, or a run failed."""
        if not isinstance(entry.event, e.RunComplete):
            return []
        ending = entry.event
        if ending.outcome is Outcome.FAILED:
            run_id = "" if ending.minted else ending.run_id
            return [
                envelope(
                    "agent_event",
                    "created",
                    wire.agent_error(entry.session_id, ending_error(ending), run_id=run_id),
                )
            ]
        if ending.outcome is not Outcome.COMPLETED:
            return []
        info = await self._workspace.means.store.session(entry.session_id)
        if info is None or info.parent_id:
            return []
        return [envelope("agent_event", "created", wire.agent_finished(entry.session_id, info.title))]

    async def _session(self, session_id: SessionId, event_type: EventType) -> list[bytes]:
        info = await self._workspace.means.store.session(session_id)
        return [envelope("session", event_type, session_to_wire(info))] if info else []

    async def _changed_message(self, message_id: MessageId) -> list[bytes]:
        message = await self._workspace.current(message_id)
        return [envelope("message", "updated", self._message(message))] if message else []

    def _message(self, message: Message) -> object:
        return exact(message) if self.detail is Detail.DETAIL else merged(message)

    def written(self, message_id: MessageId) -> bytes:
        """A message still being written, whole, as of now; nothing once it is done, for then the log tells it."""
        drafts = self._workspace.drafts
        draft = drafts.get(message_id)
        if draft is None:
            return b""
        known = self._whole.get(message_id)
        if known is None or known[0] != draft.revision:
            line = envelope("message", "updated", merged(draft.message()))
            known = (draft.revision, frame(line))
            self._whole = {id: seen for id, seen in self._whole.items() if id in drafts} | {message_id: known}
        return known[1]

    def present(self, now: Presence) -> bytes:
        """Who is there, and what they run."""
        if self._present[0] != now or not self._present[1]:
            self._present = (now, frame(envelope("presence", "updated", now)))
        return self._present[1]


def asked(request: Request, *, exact: bool) -> list[bytes]:
    if isinstance(request, Permission) and request.unattended:
        return []
    if isinstance(request, Permission):
        notified = PermissionNotification(request.tool_call_id)
        return [
            envelope("permission_notification", "created", notified),
            envelope("permission_request", "created", permission_to_wire(request, exact=exact)),
        ]
    return [envelope("question_batch_request", "created", questions_to_wire(request, exact=exact))]


def settled(event: e.RequestAnswered | e.RequestWithdrawn) -> bytes:
    """That a request is over. One that was withdrawn is told as denied, so that no dialog stays open anywhere."""
    match event:
        case e.RequestAnswered(request_id, Answers()) | e.RequestWithdrawn(request_id, was_question=True):
            return envelope("question_batch_notification", "created", QuestionNotification(request_id))
        case e.RequestAnswered(answer=Decision(allowed=True)):
            notified = PermissionNotification(event.tool_call_id, granted=True)
        case _:
            notified = PermissionNotification(event.tool_call_id, denied=True)
    return envelope("permission_notification", "created", notified)


def signing_in(waiting: e.RunWaiting, session_id: SessionId) -> list[bytes]:
    """The original has a word for one kind of waiting alone."""
    if waiting.delay is not e.Delay.SIGN_IN:
        return []
    return [envelope("agent_event", "created", wire.re_authenticate(session_id, waiting.provider))]


def fragments(deltas: Sequence[Delta]) -> bytes:
    return b"".join([frame(envelope("delta", "updated", delta_to_wire(delta))) for delta in deltas])


def snapshot_line(view: object, position: int) -> bytes:
    return frame(b'{"type":"snapshot","payload":{"type":"updated","payload":%b}}' % encode(view), position=position)


def until_tick(now: float) -> float:
    """How long it is until the next moment at which messages being written are looked at."""
    return WHOLE_MESSAGE_SECONDS - now % WHOLE_MESSAGE_SECONDS


def changed(deltas: Sequence[Delta]) -> list[MessageId]:
    return list(dict.fromkeys(delta.message_id for delta in deltas))


def told_once(entries: Sequence[Entry]) -> list[Entry]:
    """Of several changes of one message heard together only the last is told: a whole message holds all of them."""
    last: dict[MessageId, int] = {}
    for entry in entries:
        if isinstance(entry.event, e.PartSaid | e.MessageReset):
            last[entry.event.message_id] = entry.position
    return [
        entry
        for entry in entries
        if not isinstance(entry.event, e.PartSaid | e.MessageReset) or last[entry.event.message_id] == entry.position
    ]
