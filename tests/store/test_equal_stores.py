"""Whatever is said to both stores, they agree: on what they refuse, and on everything that can be asked of them."""

import tempfile
from pathlib import Path

import anyio
import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.store.replaying import seen, views_equal_replay
from tests.store.scenes import AT, S, T, asked
from turnkeeper.protocol.clients import ClientName
from turnkeeper.protocol.events import (
    ClientNamed,
    ConfigChanged,
    Delay,
    EffectNoted,
    Event,
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
    SummarySet,
    TodosSet,
    UsageCounted,
)
from turnkeeper.protocol.ids import WORKSPACE, ClientId, MessageId, Position, RequestId, RunId, SessionId, ToolCallId
from turnkeeper.protocol.messages import (
    STOPPED,
    Binary,
    Finish,
    FinishReason,
    Message,
    PartKind,
    Reasoning,
    Role,
    Text,
    ToolCall,
    ToolResult,
)
from turnkeeper.protocol.problems import Problem
from turnkeeper.protocol.requests import Answers, Decision, Grant, Rule, Verdict
from turnkeeper.protocol.runs import Attachment, Cause, Failure, Outcome, Prompt, RunKind, RunOptions, Usage
from turnkeeper.protocol.sessions import Effect, EffectState, FileRead, FileVersion, Todo, TodoStatus
from turnkeeper.store.memory import MemoryStore
from turnkeeper.store.sqlite import open_store
from turnkeeper.store.store import Piece, Store


class Append(msgspec.Struct, frozen=True):
    session_id: SessionId
    events: list[Event]
    behind: int | None = None
    """How far before the end of the log the append believes it to end."""


sessions = st.sampled_from([S, T, SessionId("u")])
run_ids = st.sampled_from([RunId(name) for name in "abcd"])
message_ids = st.sampled_from([MessageId(name) for name in "klmn"])
request_ids = st.sampled_from([RequestId(name) for name in "pq"])
calls = st.sampled_from([ToolCallId("call-1"), ToolCallId("call-2")])
words = st.text(st.characters(codec="utf-8"), max_size=6)
small = st.integers(0, 3)
flags = st.booleans()
prompts = st.builds(
    Prompt, words, st.lists(st.builds(Attachment, words, words, words, st.binary(max_size=4)), max_size=1).map(tuple)
)
usages = st.builds(Usage, small, small, small, small, small, st.floats(0, 10), flags)
parts = st.one_of(
    st.builds(Text, words),
    st.builds(Reasoning, words, words, small, small, words),
    st.builds(ToolCall, calls, words, words, flags, flags, words),
    st.builds(ToolResult, calls, words, words, words, words, words, flags),
    st.builds(Finish, st.sampled_from(FinishReason), small, words, words),
    st.builds(Binary, words, words, st.binary(max_size=4)),
    st.just(STOPPED),
)
messages = st.builds(
    Message,
    message_ids,
    sessions,
    st.sampled_from(Role),
    st.lists(parts, max_size=3).map(tuple),
    words,
    words,
    small,
    small,
    flags,
    st.none() | run_ids,
)
failures = st.builds(Failure, st.sampled_from(Cause), words, words, flags)
grants = st.builds(Grant, words, st.builds(Rule, st.sampled_from(Verdict), words), words, sessions | st.just(WORKSPACE))
events: st.SearchStrategy[Event] = st.one_of(
    st.builds(
        RunAccepted,
        run_ids,
        prompts,
        words,
        st.sampled_from(RunKind),
        flags,
        flags,
        st.builds(RunOptions, words, steps_max=st.none() | small),
        at=small,
        parent=st.none() | run_ids,
    ),
    st.builds(RunStarted, run_ids),
    st.builds(RunStopping, run_ids),
    st.builds(RunFolded, run_ids, run_ids),
    st.builds(
        RunComplete,
        run_ids,
        st.sampled_from(Outcome),
        message_ids,
        words,
        st.none() | failures,
        usages | st.just(Usage()),
        small,
    ),
    st.builds(PromptEdited, run_ids, prompts),
    st.builds(PromptSteered, run_ids, flags),
    st.builds(QueueReordered, st.lists(run_ids, max_size=5).map(tuple)),
    st.builds(GateMoved, st.sampled_from(Gate)),
    st.builds(RequestAsked, st.builds(asked, request_ids, sessions, run_ids)),
    st.builds(RequestAnswered, request_ids, st.builds(Decision, flags, words) | st.just(Answers(cancelled=True))),
    st.builds(RequestWithdrawn, request_ids, words),
    st.builds(MessageSaid, messages),
    st.builds(PartSaid, message_ids, small, parts),
    st.builds(MessageReset, message_ids),
    st.builds(MessageDeleted, message_ids),
    st.builds(UsageCounted, usages, st.none() | run_ids, st.none() | small, st.none() | small),
    st.builds(TodosSet, st.lists(st.builds(Todo, words, st.sampled_from(TodoStatus), words), max_size=2).map(tuple)),
    st.builds(SummarySet, message_ids),
    st.builds(SessionCreated, words, sessions | st.just(WORKSPACE)),
    st.builds(SessionRenamed, words, flags),
    st.just(SessionDeleted()),
    st.builds(
        FileSaid,
        st.builds(FileVersion, words, sessions, words, words, small, small, small, st.none() | run_ids, flags, words),
    ),
    st.builds(FileSeen, st.builds(FileRead, sessions, words, small, words, small)),
    st.builds(GrantGiven, grants),
    st.builds(
        ClientNamed, st.builds(ClientName, st.sampled_from([ClientId("c"), ClientId("d")]), st.sampled_from("ab"))
    ),
    st.builds(GrantRevoked, words),
    st.builds(EffectNoted, st.builds(Effect, calls, sessions, run_ids, words, st.sampled_from(EffectState), words)),
    st.builds(RunWaiting, run_ids, st.sampled_from(Delay), st.just(1.5), words),
    st.just(ConfigChanged()),
)
appends = st.builds(Append, sessions | st.just(WORKSPACE), st.lists(events, max_size=4), st.none() | small)
pieces = st.lists(st.builds(Piece, sessions, message_ids, small, st.sampled_from(PartKind), small, words), max_size=4)
begun = [Append(S, [SessionCreated()]), Append(T, [SessionCreated(parent_id=S)])]
scripts = st.lists(appends | pieces, max_size=30).map(lambda script: [*begun, *script])


@settings(deadline=None, max_examples=150)
@given(scripts)
def test_random_events_leave_equal_views_in_both_stores_and_in_a_replay(script: list[Append | list[Piece]]) -> None:
    async def play() -> None:
        with tempfile.TemporaryDirectory() as directory:
            async with open_store(Path(directory) / "data") as sqlite:
                memory = MemoryStore()
                for step, said in enumerate(script):
                    assert await outcome(sqlite, said, step) == await outcome(memory, said, step)
                names = {S, T, SessionId("u"), WORKSPACE}
                assert await seen(sqlite, names) == await seen(memory, names)
                await views_equal_replay(sqlite)

    anyio.run(play)


async def outcome(store: Store, said: Append | list[Piece], step: int) -> object:
    """What came of it: a position, or the name of the refusal."""
    try:
        match said:
            case Append(session_id=session_id, events=events, behind=behind):
                after = None if behind is None else Position(max(0, await store.head() - behind))
                return await store.append(session_id, events, after=after, at=AT + 1000 * step)
            case pieces:
                return await store.write_behind(pieces)
    except Problem as problem:
        return type(problem).__name__
