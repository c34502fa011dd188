"""What every store promises to whoever looks for something that was said, or asks what was spent."""

import pytest

from tests.store.scenes import AT, SECONDS, A, B, M, S, T, accepted, begin, completed, said, tell
from turnkeeper.protocol.events import EffectNoted, MessageSaid, RunComplete, RunStarted, SessionDeleted, UsageCounted
from turnkeeper.protocol.ids import MessageId, RunId, ToolCallId
from turnkeeper.protocol.messages import Message, Reasoning, Role, Text, ToolResult
from turnkeeper.protocol.runs import Outcome, Usage
from turnkeeper.protocol.sessions import Effect, EffectState
from turnkeeper.store.store import Accounts, Found, Spent, Store

TEXTS = {
    "one": (Role.USER, 'Please say "hello\nworld" in the Straße'),
    "two": (Role.ASSISTANT, "100% of C:\\path_names"),
    "three": (Role.TOOL, "hello from a tool"),
    "four": (Role.USER, "ΟΔΥΣΣΕΥΣ says HELLO"),
}


async def scene(store: Store) -> None:
    await begin(store)
    await begin(store, session_id=T)
    for id, (role, text) in TEXTS.items():
        part = ToolResult(ToolCallId("c"), "bash", text) if role is Role.TOOL else Text(text)
        session = T if id == "four" else S
        await tell(
            store, said(MessageId(id), Reasoning("hello?"), part, role=role, session_id=session), session_id=session
        )


@pytest.mark.parametrize(
    ("words", "ids"),
    [
        (["hello"], ["four", "one"]),
        (["HELLO", "please"], ["one"]),
        (["hello\nworld"], ["one"]),
        (['"hello'], ["one"]),
        (["strasse"], ["one"]),
        (["STRASSE", "hello"], ["one"]),
        (["οδυσσευς"], ["four"]),
        (["100%"], ["two"]),
        (["10%0"], []),
        (["path_names"], ["two"]),
        (["path-names"], []),
        (["c:\\p"], ["two"]),
        (["hello", "nowhere"], []),
        (["kind"], []),
        (["text"], []),
        ([""], ["four", "two", "one"]),
    ],
)
async def test_what_people_and_models_said_is_found_by_its_words_newest_first(
    store: Store, words: list[str], ids: list[str]
) -> None:
    await scene(store)
    assert [found.message_id for found in await store.search(words)] == ids


async def test_what_is_found_says_where_and_by_whom_and_no_more_than_was_asked_for(store: Store) -> None:
    await scene(store)
    role, text = TEXTS["four"]
    assert await store.search(["hello"], limit=1) == [Found(T, MessageId("four"), role, SECONDS, text)]


async def test_what_was_said_in_a_deleted_session_is_not_found(store: Store) -> None:
    await scene(store)
    await tell(store, SessionDeleted(), session_id=T)
    assert [found.message_id for found in await store.search(["hello"])] == ["one"]


async def test_the_accounts_tell_what_each_ended_run_cost_and_how_often_each_tool_was_called(store: Store) -> None:
    usage = Usage(1, 2, 3, 4, 5, 0.5)
    answer = Message(M, S, Role.ASSISTANT, (Text("done"),), model="m1", provider="box")
    await begin(store, accepted(A), RunStarted(A), UsageCounted(usage, A))
    await tell(store, MessageSaid(answer), RunComplete(A, Outcome.COMPLETED, M, "done", steps=2))
    for id, tool in (("1", "bash"), ("2", "view"), ("3", "bash")):
        effect = Effect(ToolCallId(id), S, A, tool, EffectState.INTENDED, at=AT)
        await tell(store, EffectNoted(effect))
        await tell(store, EffectNoted(effect))
    await tell(store, accepted(B), accepted(RunId("waits")), RunStarted(B), completed(B))
    runs = (
        Spent(A, S, Outcome.COMPLETED, *(await times(store, A)), usage, 2, provider="box", model="m1"),
        Spent(B, S, Outcome.COMPLETED, *(await times(store, B)), Usage()),
    )
    assert await store.accounts() == Accounts(runs, {"bash": 2, "view": 1})
    assert (await store.accounts(since=AT + 1)).tools == {}


async def times(store: Store, run_id: RunId) -> tuple[int, int, int]:
    run = await store.run(run_id)
    assert run is not None
    return run.accepted_at, run.started_at, run.ended_at
