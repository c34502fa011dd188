"""What every store promises about sessions, messages, and what belongs to them."""

import pytest

from tests.store.replaying import views_equal_replay
from tests.store.scenes import (
    AT,
    SECONDS,
    A,
    M,
    N,
    Q,
    S,
    T,
    accepted,
    asked,
    begin,
    completed,
    piece,
    said,
    tell,
    texts,
)
from turnkeeper.protocol.events import (
    EffectNoted,
    FileSaid,
    FileSeen,
    GrantGiven,
    MessageDeleted,
    MessageReset,
    PartSaid,
    RequestAsked,
    RunStarted,
    SessionCreated,
    SessionDeleted,
    SessionRenamed,
    SummarySet,
    TodosSet,
    UsageCounted,
)
from turnkeeper.protocol.ids import WORKSPACE, Position, RunId, SessionId, ToolCallId
from turnkeeper.protocol.messages import (
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
from turnkeeper.protocol.problems import Conflict, SessionTaken
from turnkeeper.protocol.requests import Grant, Rule, Verdict
from turnkeeper.protocol.runs import Prompt, Usage
from turnkeeper.protocol.sessions import (
    Effect,
    EffectState,
    FileRead,
    FileVersion,
    SessionInfo,
    Todo,
    TodoStatus,
)
from turnkeeper.store.store import Store

END = Finish(FinishReason.END_TURN, 5)


async def message(store: Store) -> Message:
    found = await store.message(M)
    assert found is not None
    return found


async def test_single_facts_of_a_session_change_without_touching_the_others(store: Store) -> None:
    todos = (Todo("think", TodoStatus.IN_PROGRESS, "thinking"),)
    await begin(store, SessionRenamed("A name", by_person=True), TodosSet(todos), SummarySet(M))
    await tell(store, UsageCounted(Usage(cost=0.25, estimated=True), prompt_tokens=10, completion_tokens=20))
    await tell(store, TodosSet(todos))
    info = await store.session(S)
    assert info is not None
    assert info.estimated_usage
    await tell(store, UsageCounted(Usage(cost=0.5), completion_tokens=21), said(M))
    assert await store.session(S) == SessionInfo(
        id=S,
        title="A name",
        message_count=1,
        prompt_tokens=10,
        completion_tokens=21,
        summary_message_id=M,
        cost=0.75,
        todos=todos,
        titled_by_person=True,
        created_at=SECONDS,
        updated_at=SECONDS,
        position=Position(8),
    )


async def test_what_a_question_cost_is_added_to_its_run(store: Store) -> None:
    usage = Usage(1, 2, 3, 4, 5, 0.5)
    await begin(store, accepted(A), UsageCounted(usage, A), UsageCounted(usage, A), completed(A))
    run = await store.run(A)
    assert run is not None
    assert run.usage == usage + usage


async def test_sessions_are_listed_by_their_last_change_not_by_the_clock(store: Store) -> None:
    await store.append(S, [SessionCreated()], after=None, at=AT + 9_000_000)
    await begin(store, session_id=T)
    await tell(store, SessionCreated(parent_id=S), session_id=SessionId("child"))
    assert [info.id for info in await store.sessions()] == [T, S]
    await tell(store, said(M))
    await tell(store, accepted(A), session_id=T)
    await tell(store, RunStarted(A), session_id=T)
    await tell(store, SessionRenamed("x"))
    assert [info.id for info in await store.sessions()] == [S, T]
    assert [info.id for info in await store.sessions(parent=S)] == ["child"]


async def test_a_session_id_is_used_once(store: Store) -> None:
    await begin(store)
    with pytest.raises(SessionTaken):
        await begin(store)
    await tell(store, SessionDeleted())
    with pytest.raises(SessionTaken):
        await begin(store)


async def test_a_deleted_session_leaves_its_log_its_runs_endings_and_nothing_else(store: Store) -> None:
    grant = Grant("g", Rule(Verdict.ALLOW), "session", S)
    file, read = FileVersion("f", S, "a.py", "x", 0), FileRead(S, "a.py", 1)
    effect = Effect(ToolCallId("call"), S, A, "bash", EffectState.STARTED)
    await begin(store, accepted(A, "a secret"), RunStarted(A), RequestAsked(asked()), GrantGiven(grant))
    await tell(store, said(M, Text("hello")), FileSaid(file), FileSeen(read), EffectNoted(effect))
    await store.write_behind([piece("more", index=1)])
    end = await tell(store, SessionDeleted())
    assert (await store.session(S), await store.standing(S), await store.message(M)) == (None, None, None)
    assert [*await store.sessions(), *await store.messages(S), *await store.pieces(S), *await store.unsettled()] == []
    assert [*await store.files(S), *await store.file_reads(S), *await store.effects(S), *await store.grants()] == []
    assert await store.request(Q) is None
    assert await tell(store, completed(A, ""), after=end) == end + 1
    run = await store.run(A)
    assert run is not None
    assert (run.outcome, run.prompt, run.digest) == ("completed", Prompt(""), "digest of a secret")
    assert len(await store.read(Position(0))) == end + 1
    await views_equal_replay(store)


async def test_messages_are_in_the_order_in_which_they_were_said(store: Store) -> None:
    await store.append(S, [SessionCreated()], after=None, at=AT)
    for number, name in enumerate(["z", "a", "m"]):
        event = said(type(M)(name), Text(name), role=Role.USER if name != "a" else Role.TOOL)
        await store.append(S, [event], after=None, at=AT - 5000 * number)
    assert texts(await store.messages(S)) == ["z", "a", "m"]
    assert texts(await store.user_messages(S)) == texts(await store.user_messages()) == ["m", "z"]
    assert await store.user_messages(T) == []


async def test_every_kind_of_part_comes_back_as_it_was_said(store: Store) -> None:
    parts = (
        Reasoning("hm", "sig", 1, 2, '{"x":1}'),
        Text("nul \0, an accent é, a clef 𝄞"),
        ToolCall(ToolCallId("c"), "bash", '{"command":"ls"}', True, True, "data"),
        ToolResult(ToolCallId("c"), "bash", "out", "data", "image/png", "{}", True),
        Binary("a.bin", "image/png", bytes(range(256))),
        END,
    )
    whole = Message(M, S, Role.ASSISTANT, parts, "model", "provider", 7, 8, True, A)
    await begin(store, said(M))
    await tell(store, MessageDeleted(M), said(N))
    await tell(store, type(said(M))(whole))
    assert await message(store) == whole


async def test_saying_a_part_changes_that_part_and_drops_what_was_written_behind_for_it(store: Store) -> None:
    await begin(store, said(M, Text("a"), Text("b")))
    await store.write_behind([piece("half", index=2), piece("other", index=3)])
    await store.append(S, [PartSaid(M, 2, Text("whole"))], after=None, at=AT + 2000)
    assert (await message(store)).parts == (Text("a"), Text("b"), Text("whole"), Text("other"))
    assert (await message(store)).updated_at == SECONDS + 2
    assert await store.pieces(S) == [piece("other", index=3)]
    await tell(store, PartSaid(M, 0, Text("A")))
    assert (await message(store)).parts == (Text("A"), Text("b"), Text("whole"), Text("other"))


async def test_an_unfinished_part_is_read_as_far_as_it_was_written_behind(store: Store) -> None:
    call = ToolCall(ToolCallId("c"), "bash")
    await begin(store, said(M, call, Reasoning("", started_at=9)))
    await store.write_behind([piece("th", index=1, part=PartKind.REASONING), piece('{"x"', part=PartKind.INPUT)])
    await store.write_behind([piece("ink", 2, index=1, part=PartKind.REASONING)])
    await store.write_behind([piece("é", index=2), piece("lan", 1, index=2), piece("lan", 1, index=2)])
    assert (await message(store)).parts == (
        ToolCall(ToolCallId("c"), "bash", '{"x"'),
        Reasoning("think", started_at=9),
        Text("élan"),
    )


async def test_a_piece_that_does_not_follow_what_is_known_is_not_believed(store: Store) -> None:
    await begin(store, said(M, Text("said")))
    await store.write_behind([piece("late", 0), piece("far", 99), piece("!", 4)])
    assert (await message(store)).text == "said!"


async def test_a_piece_of_a_message_that_is_not_there_is_dropped(store: Store) -> None:
    await begin(store)
    await store.write_behind([piece("x")])
    await tell(store, said(M))
    assert (await message(store)).parts == ()


async def test_a_message_that_has_its_end_is_continued_by_nothing(store: Store) -> None:
    await begin(store, said(M, Text("said")))
    await store.write_behind([piece(" more", 4), piece("next", index=1)])
    await tell(store, PartSaid(M, 1, END))
    await store.write_behind([piece(" by somebody who woke up late", 4)])
    assert (await message(store)).parts == (Text("said"), END)
    assert await store.pieces(S) == []


async def test_a_reset_message_is_empty_and_unfinished_again(store: Store) -> None:
    await begin(store, said(M, Text("first try"), END))
    await store.write_behind([piece("more", index=2)])
    assert await store.unfinished(S) == []
    await tell(store, MessageReset(M))
    assert (await message(store)).parts == ()
    assert [unfinished.id for unfinished in await store.unfinished(S)] == [M]
    await store.write_behind([piece("second")])
    assert (await message(store)).parts == (Text("second"),)


async def test_only_an_answer_without_an_end_is_unfinished(store: Store) -> None:
    await begin(store, said(M, Text("x")), said(N, Text("x"), END), said(type(M)("u"), role=Role.USER))
    assert [unfinished.id for unfinished in await store.unfinished(S)] == [M]
    await tell(store, PartSaid(M, 1, END), PartSaid(N, 1, Text("not the end")))
    assert [unfinished.id for unfinished in await store.unfinished(S)] == [N]


async def test_messages_are_counted_as_they_come_and_go(store: Store) -> None:
    await begin(store, said(M), said(N), MessageDeleted(M), MessageDeleted(M))
    info = await store.session(S)
    assert info is not None
    assert info.message_count == 1
    assert [left.id for left in await store.messages(S)] == [N]


async def test_a_message_is_said_once(store: Store) -> None:
    await begin(store, said(M, Text("first")))
    with pytest.raises(Conflict):
        await tell(store, said(M, Text("second")))
    assert texts(await store.messages(S)) == ["first"]


async def test_facts_about_what_is_gone_change_nothing(store: Store) -> None:
    await begin(store, PartSaid(M, 0, Text("x")), MessageReset(M), MessageDeleted(M))
    assert await store.messages(S) == []
    await views_equal_replay(store)


async def test_file_versions_are_counted_for_each_session_and_path(store: Store) -> None:
    versions = [
        FileVersion("1", S, "a.py", "old", 0),
        FileVersion("2", S, "a.py", "new", 1, run_id=A),
        FileVersion("3", S, "b.py", "b", 0),
        FileVersion("5", S, "gone.py", "", 0, absent=True),
    ]
    await begin(store, *map(FileSaid, versions))
    other = FileVersion("4", T, "a.py", "theirs", 0, 5, 6)
    await begin(store, FileSaid(other), session_id=T)
    assert (await store.files(S), await store.files(T)) == (versions, [other])
    newest = [await store.files(S, newest_of=path) for path in ("a.py", "b.py", "gone.py", "never.py")]
    assert newest == [[versions[1]], [versions[2]], [versions[3]], []]
    with pytest.raises(Conflict):
        await tell(store, FileSaid(versions[1]))


async def test_the_last_sight_of_a_file_replaces_the_one_before(store: Store) -> None:
    await begin(store, FileSeen(FileRead(S, "b", 1)), FileSeen(FileRead(S, "a", 2)))
    newest = FileRead(S, "b", 3, "digest", 1_700_000_000_123_456_789)
    await tell(store, FileSeen(newest))
    assert await store.file_read(S, "b") == newest
    assert await store.file_reads(S) == [FileRead(S, "a", 2), newest]
    assert await store.file_read(T, "b") is None


async def test_an_effect_is_known_as_far_as_it_came(store: Store) -> None:
    first, other = (
        Effect(ToolCallId(name), S, RunId("a"), "bash", EffectState.INTENDED, "ls", 1) for name in ("1", "2")
    )
    started = Effect(first.tool_call_id, S, A, "bash", EffectState.STARTED, "ls", 2)
    await begin(store, EffectNoted(first), EffectNoted(other), EffectNoted(started))
    assert await store.effect(first.tool_call_id) == started
    assert await store.effects(S) == [other, started]
    assert await store.effect(ToolCallId("3")) is None


async def test_runs_are_listed_newest_first(store: Store) -> None:
    await begin(store, *(accepted(RunId(str(number))) for number in range(4)))
    await begin(store, accepted(A), session_id=T)
    assert [run.id for run in await store.runs(S, limit=2)] == ["3", "2"]
    assert [run.id for run in await store.runs(limit=2)] == ["a", "3"]


async def test_writing_nothing_behind_is_nothing(store: Store) -> None:
    await begin(store, said(M))
    await store.write_behind([])
    assert await store.pieces(S) == []


async def test_pieces_tell_what_is_written_behind_and_not_yet_said(store: Store) -> None:
    await begin(store, said(M))
    written = [piece("a"), piece("b", 1), piece("c", index=1, part=PartKind.INPUT)]
    await store.write_behind(written)
    assert await store.pieces(S) == written
    assert await store.pieces(WORKSPACE) == []
