"""A workspace is opened after a crash at any instant: nothing is half true, and everybody in line has their turn."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from anyio import fail_after

from tests.engine.survival import endings, read_by_the_ledger, survived
from tests.store.replaying import whole_log
from turnkeeper.core.session import STOPPED_BY_SERVER
from turnkeeper.engine import conversations, restoring, submitting
from turnkeeper.engine.answering import answer
from turnkeeper.engine.restoring import Back, Change, Restored
from turnkeeper.models.scripted import CallTool, Hold, Say, Think, Turn, Use, turn
from turnkeeper.protocol.events import EffectNoted, Entry, RunAccepted, RunStarted, SessionCreated, SessionRenamed
from turnkeeper.protocol.ids import ClientId, RunId, SessionId, ToolCallId
from turnkeeper.protocol.messages import Finish, FinishReason, Reasoning, Text
from turnkeeper.protocol.problems import RunIdConflict, StoreUnavailable, WorkspaceClosing
from turnkeeper.protocol.requests import Decision, Request, Rule, Verdict
from turnkeeper.protocol.runs import Outcome, RunState, Usage
from turnkeeper.protocol.sessions import EffectState
from turnkeeper.store.memory import MemoryStore
from turnkeeper.store.store import Piece
from turnkeeper.testing.scene import QUICK, MemoryFiles, PlainTool, Stage, scene
from turnkeeper.tools.tool import Asking, Call, Hands

AFTER = [turn(Say("after the crash"))] * 6
SPENT = Usage(input_tokens=100, output_tokens=20)
WAITING = replace(QUICK, queue_waits_after_crash=True)
FEW_AWAKE = replace(QUICK, sessions_awake_max=3)
HASTY = replace(QUICK, stop_seconds=0.05)

Write = list[Entry] | list[Piece]


class Recorder(MemoryStore):
    """A store that remembers every write in order, so that it can be as it was at any instant."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[Write] = []
        self._behind = anyio.Event()
        self.on_commit(lambda entries: self.writes.append(list(entries)))

    async def write_behind(self, pieces: Sequence[Piece]) -> None:
        await super().write_behind(pieces)
        self.writes.append(list(pieces))
        self._behind.set()
        self._behind = anyio.Event()

    async def written(self, text: str) -> None:
        """Until this was written behind."""
        while not any(isinstance(one, Piece) and text in one.text for write in self.writes for one in write):
            await self._behind.wait()

    async def as_of(self, writes: int) -> MemoryStore:
        """What a process that is killed after so many writes leaves."""
        store = MemoryStore()
        for write in self.writes[:writes]:
            for one in write:
                if isinstance(one, Entry):
                    store.put_back([one])
                else:
                    await store.write_behind([one])
        return store


async def dig(call: Call, hands: Hands) -> str:
    await hands.permit(Asking("dig", "execute", "dig a hole", "/", "a hole"))
    await hands.begin("a hole")
    return "dug"


async def look(call: Call, hands: Hands) -> str:
    return "seen"


TOOLS = [PlainTool("dig", dig), PlainTool("look", look, parallel=True)]


async def a_busy_day(store: Recorder) -> None:
    """Prompts that run, wait, join and are cancelled; an answer that is streamed, a tool that is asked about."""
    async with scene(
        turn(
            Think("hm"),
            Say("let me dig", characters=3),
            CallTool("c1", "dig", {}),
            CallTool("c2", "look", {}),
            Use(SPENT),
            when="first",
        ),
        turn(Say("half of a "), Hold("half"), Say("long answer"), CallTool("c3", "look", {}), when="first"),
        turn(Say("minded"), when="cable"),
        turn(Say("second"), CallTool("c4", "look", {}), when="second"),
        turn(Say("never heard to its end"), Hold("cancelled"), when="second"),
        turn(Say("last"), when="last"),
        store=store,
        tools=TOOLS,
    ) as stage:
        session = await stage.session("A busy day")
        await stage.submit("first", session, "r1")
        await asked(stage)
        await answer(stage.workspace, (await asked(stage)).id, Decision(allowed=True), by=ClientId("me"))
        await stage.model.reached("half")
        await stage.submit("second", session, "r2")
        await stage.submit("and mind the cable", session)
        await stage.submit("never runs", session, "r4")
        await submitting.cancel_run(stage.workspace, RunId("r4"))
        await store.written("half of a")
        stage.model.release("half")
        await stage.model.reached("cancelled")
        await submitting.cancel_run(stage.workspace, RunId("r2"))
        await stage.submit("last", session, "r5")
        await survived(stage.workspace, accepted(store.writes))


async def asked(stage: Stage) -> Request:
    while not (pending := (await stage.store.snapshot()).requests):
        await anyio.wait_all_tasks_blocked()
    return pending[0]


def accepted(writes: Sequence[Write]) -> dict[RunId, str]:
    """What was acknowledged: an acceptance is answered when it is written."""
    entries = [one for write in writes for one in write if isinstance(one, Entry)]
    return {e.event.run_id: e.event.prompt.text for e in entries if isinstance(e.event, RunAccepted)}


def ended(writes: Sequence[Write]) -> dict[RunId, Outcome]:
    return endings([one for write in writes for one in write if isinstance(one, Entry)])


@pytest.fixture(scope="module")
async def day() -> Recorder:
    store = Recorder()
    with fail_after(20):
        await a_busy_day(store)
    assert ended(store.writes) == {
        "r1": Outcome.COMPLETED,
        "r4": Outcome.CANCELLED,
        "r2": Outcome.CANCELLED,
        "r5": Outcome.COMPLETED,
    }
    return store


async def test_a_crash_after_any_write_loses_nothing_and_leaves_nothing_half_true(day: Recorder) -> None:
    outcomes: set[Outcome] = set()
    with fail_after(50):
        for writes in range(len(day.writes) + 1):
            store = await day.as_of(writes)
            active = [run.id for run in (await store.snapshot()).runs if run.state is not RunState.QUEUED]
            async with scene(*AFTER, store=store, tools=TOOLS, id="again") as stage:
                entries = await survived(stage.workspace, accepted(day.writes[:writes]))
            now = endings(entries)
            assert ended(day.writes[:writes]).items() <= now.items()
            assert all(now[run_id] is Outcome.INTERRUPTED for run_id in active)
            outcomes |= set(now.values())
    assert outcomes == {Outcome.COMPLETED, Outcome.CANCELLED, Outcome.INTERRUPTED}


async def test_a_crash_after_any_write_of_the_recovery_is_recovered_from_too(day: Recorder) -> None:
    half = next(n for n, write in enumerate(day.writes) if any(isinstance(one, Piece) for one in write)) + 2
    with fail_after(30):
        recovering = Recorder()
        recovering.put_back(one for write in day.writes[:half] for one in write if isinstance(one, Entry))
        before = len(recovering.writes)
        async with scene(*AFTER, store=recovering, tools=TOOLS, id="again") as stage:
            await survived(stage.workspace, accepted(day.writes[:half]))
        for writes in range(before, len(recovering.writes) + 1):
            store = await day.as_of(half)
            store.put_back(one for write in recovering.writes[:writes] for one in write if isinstance(one, Entry))
            async with scene(*AFTER, store=store, tools=TOOLS, id="once more") as stage:
                await survived(stage.workspace, accepted(day.writes[:half]))


async def crashed(*turns: Turn, until: str, prompts: Sequence[str] = ("hi",), written: str = "") -> MemoryStore:
    """What is left when a server is killed as its model stands at a gate."""
    store = Recorder()
    async with scene(*turns, store=store, tools=TOOLS, rules=[Rule(Verdict.ALLOW, "dig")]) as stage:
        session = await stage.session("A session")
        for number, prompt in enumerate(prompts):
            await stage.submit(prompt, session, f"r{number}")
        await stage.model.reached(until)
        if written:
            await store.written(written)
        return await store.as_of(len(store.writes))


async def the_session(stage: Stage) -> SessionId:
    return (await stage.store.sessions())[0].id


async def test_an_interrupted_answer_keeps_what_was_written_behind_and_its_ending_tells_it() -> None:
    with fail_after(10):
        turns = [
            turn(Say("I look"), CallTool("c1", "look", {}), Use(SPENT)),
            turn(Think("so"), Say("it is seen, and"), Hold("here")),
        ]
        store = await crashed(*turns, until="here", written="it is seen, and")
        async with scene(store=store, id="again") as stage:
            run = await stage.workspace.ended(RunId("r0"))
            messages = await stage.messages(await the_session(stage))
    assert (run.outcome, run.failure) == (Outcome.INTERRUPTED, STOPPED_BY_SERVER)
    assert (run.text, run.message_id, run.steps) == ("it is seen, and", messages[-1].id, 1)
    assert (run.usage.input_tokens, run.usage.output_tokens) == (SPENT.input_tokens, SPENT.output_tokens)
    assert [type(part) for part in messages[-1].parts] == [Reasoning, Text, Finish]
    assert messages[-1].finish is not None
    assert (messages[-1].finish.reason, messages[-1].finish.message) == (FinishReason.CANCELED, "Interrupted")


async def test_a_line_goes_on_in_order_after_a_crash_or_waits_if_the_workspace_says_so() -> None:
    prompts = ("one", "two", "three")
    with fail_after(10):
        store = await crashed(turn(Hold("here")), until="here", prompts=prompts)
        async with scene(*AFTER, store=store, knobs=WAITING, id="again") as stage:
            session = await the_session(stage)
            line, held = await submitting.line(stage.workspace, session)
            assert ([run.id for run in line], held) == (["r1", "r2"], True)
            assert (await stage.store.snapshot()).held == (session,)
            assert not stage.workspace.is_busy()
            assert stage.model.questions == []
            await submitting.release(stage.workspace, session)
            entries = await survived(stage.workspace, {RunId(f"r{n}"): text for n, text in enumerate(prompts)})
    started = [entry.event.run_id for entry in entries if isinstance(entry.event, RunStarted)]
    assert started == ["r0", "r1", "r2"]
    assert endings(entries)[RunId("r2")] is Outcome.COMPLETED


async def test_what_a_crash_left_asking_is_withdrawn_with_its_run() -> None:
    with fail_after(10):
        store = Recorder()
        async with scene(turn(CallTool("c1", "dig", {})), store=store, tools=TOOLS) as stage:
            await stage.submit("dig", await stage.session(), "r0")
            request = await asked(stage)
            left = await store.as_of(len(store.writes))
        async with scene(store=left, id="again") as stage:
            await survived(stage.workspace, {RunId("r0"): "dig"})
            late = await answer(stage.workspace, request.id, Decision(allowed=True), by=ClientId("late"))
            assert not late.resolved
            (settled,) = await left.settled()
    assert (settled.request, settled.answer, settled.reason) == (request, None, "the server stopped")


@pytest.mark.parametrize(
    ("writes_before", "state", "said"),
    [
        (EffectState.INTENDED, EffectState.INTENDED, "before this tool was used"),
        (EffectState.STARTED, EffectState.STARTED, "It may have taken effect"),
    ],
)
async def test_a_person_can_see_after_a_crash_which_command_may_have_run(
    writes_before: EffectState, state: EffectState, said: str
) -> None:
    with fail_after(10):
        day = Recorder()
        async with scene(
            turn(CallTool("c1", "dig", {}), CallTool("c2", "dig", {})),
            turn(Say("done")),
            store=day,
            tools=TOOLS,
            rules=[Rule(Verdict.ALLOW, "dig")],
        ) as stage:
            await stage.run("dig", run_id="r0")
        crash = next(n for n, write in enumerate(day.writes) if notes(write, writes_before)) + 1
        store = await day.as_of(crash)
        async with scene(store=store, id="again") as stage:
            session = await the_session(stage)
            results = {r.tool_call_id: r for message in await stage.messages(session) for r in message.tool_results}
            effects = {effect.tool_call_id: effect.state for effect in await store.effects(session)}
    assert said in results[ToolCallId("c1")].content
    assert "before this tool was used" in results[ToolCallId("c2")].content
    assert effects == {"c1": state, "c2": EffectState.INTENDED}
    assert all(result.is_error for result in results.values())


async def test_a_change_that_a_crash_interrupted_is_in_the_history_and_can_be_taken_back() -> None:
    files, path = MemoryFiles({"/f": "old"}), Path("/f")

    async def change(_: Call, hands: Hands) -> str:
        await hands.begin_change(path, before="old")
        await MemoryFiles.write(files, path, "new", over="old")
        await hands.changed(path, after="new", digest="", mtime_ns=0)
        return "changed"

    with fail_after(10):
        day = Recorder()
        async with scene(
            turn(CallTool("c1", "change", {})), turn(Say("done")), store=day, tools=[PlainTool("change", change)]
        ) as stage:
            await stage.run("go", run_id="r0")
        crash = next(n for n, write in enumerate(day.writes) if notes(write, EffectState.STARTED)) + 1
        store = await day.as_of(crash)
        async with scene(store=store, id="again", files=files) as stage:
            session = await the_session(stage)
            changed = await restoring.changes(stage.workspace, session)
            restored = await restoring.take_back(stage.workspace, session, Back(run_id=RunId("r0")))
            again = await restoring.do_again(stage.workspace, session)
    assert changed == [Change("/f", "old", "new")]
    assert restored == again == [Restored("/f")]
    assert files.contents == {"/f": "new"}


def notes(write: Write, state: EffectState) -> bool:
    events = [one.event for one in write if isinstance(one, Entry)]
    return any(isinstance(event, EffectNoted) and event.effect.state is state for event in events)


async def test_a_workspace_whose_disk_fails_at_its_opening_says_why_and_opens_when_it_is_mended() -> None:
    with fail_after(10):
        store = await crashed(turn(Hold("here")), until="here", prompts=("one", "two"))
        store.fail_next(StoreUnavailable("the disk is full"))
        with pytest.raises(StoreUnavailable, match="the disk is full"):
            async with scene(store=store, id="again"):
                pass
        async with scene(*AFTER, store=store, id="again") as stage:
            await survived(stage.workspace, {RunId("r0"): "one", RunId("r1"): "two"})


async def test_nobody_is_let_in_before_what_a_crash_left_is_put_right() -> None:
    """Otherwise the newcomer would be the one that is ended as interrupted."""
    with fail_after(10):
        store = await crashed(turn(Hold("here")), until="here")
        async with scene(*AFTER, store=store, id="again") as stage:
            run = await stage.run("new", await the_session(stage), run_id="new")
            old = await stage.workspace.ended(RunId("r0"))
    assert (old.outcome, run.outcome, run.text) == (Outcome.INTERRUPTED, Outcome.COMPLETED, "after the crash")


async def test_a_prompt_that_was_acknowledged_before_a_crash_is_not_run_again_when_it_is_sent_again() -> None:
    with fail_after(10):
        store = await crashed(turn(Hold("here")), until="here")
        async with scene(*AFTER, store=store, id="again") as stage:
            session = await the_session(stage)
            assert await stage.submit("hi", session, "r0") == "r0"
            with pytest.raises(RunIdConflict):
                await stage.submit("something else", session, "r0")
            await survived(stage.workspace, {RunId("r0"): "hi"})
            assert stage.model.questions == []


async def test_a_server_that_is_told_to_stop_keeps_the_line_for_the_next_start() -> None:
    """The original writes a prompt down only when its turn has come, and forgets the line."""
    store = MemoryStore()
    with fail_after(10):
        async with scene(turn(Say("half"), Hold("here")), store=store) as stage:
            session = await stage.session()
            for number, prompt in enumerate(("one", "two", "three")):
                await stage.submit(prompt, session, f"r{number}")
            await stage.model.reached("here")
            await stage.workspace.close(keep_queue=True)
            with pytest.raises(WorkspaceClosing):
                await stage.submit("too late", session)
            first = await stage.workspace.ended(RunId("r0"))
        assert (first.outcome, first.text) == (Outcome.INTERRUPTED, "half")
        async with scene(*AFTER, store=store, id="again") as stage:
            entries = await survived(
                stage.workspace, {RunId(f"r{n}"): t for n, t in enumerate(("one", "two", "three"))}
            )
    assert endings(entries)[RunId("r1")] is endings(entries)[RunId("r2")] is Outcome.COMPLETED


async def test_sessions_that_nobody_uses_leave_memory_and_come_back_when_they_are_asked_for() -> None:
    with fail_after(20):
        async with scene(*[turn(Say("hello"))] * 13, turn(Hold("busy")), knobs=FEW_AWAKE) as stage:
            sessions = [await stage.session(f"session {number}") for number in range(12)]
            for session in sessions:
                await stage.run("hi", session)
                assert stage.workspace.sessions_awake <= 4
            again = await stage.run("again", sessions[0])
            assert again.outcome is Outcome.COMPLETED
            await stage.submit("one that goes on is not forgotten", sessions[1], "busy")
            for session in sessions[2:]:
                await stage.workspace.note(session, SessionRenamed("renamed"))
            assert stage.workspace.is_busy(sessions[1])
            await submitting.cancel_run(stage.workspace, RunId("busy"))
            assert stage.workspace.sessions_awake <= 4


async def test_a_deleted_sessions_run_and_its_children_have_ended_before_it_is_gone() -> None:
    """The original's run goes on in a session that is no more, and its children stay."""

    async def stubborn(call: Call, hands: Hands) -> str:
        with anyio.CancelScope(shield=True):
            await never.wait()
        return "finally"

    never = anyio.Event()
    with fail_after(20):
        async with scene(
            turn(CallTool("c1", "stubborn", {})), tools=[PlainTool("stubborn", stubborn)], knobs=HASTY
        ) as stage:
            session = await stage.session("going")
            await stage.workspace.found(SessionId("child"), SessionCreated("child", session))
            await stage.submit("hi", session, "r0")
            await stage.submit("waiting", session, "r1")
            while not await stage.store.effects(session):
                await anyio.wait_all_tasks_blocked()
            try:
                await conversations.forget(stage.workspace, await conversations.found(stage.workspace, session))
                runs = {run.id: run.outcome for run in await stage.store.runs()}
                assert runs == {"r0": Outcome.CANCELLED, "r1": Outcome.CANCELLED}
                assert await stage.store.sessions() == []
                assert await stage.store.sessions(parent=session) == []
            finally:
                never.set()
            read_by_the_ledger(await whole_log(stage.store))


async def test_a_call_whose_id_was_used_before_gets_a_result_of_its_own() -> None:
    """Some providers count their calls from zero in every answer."""
    with fail_after(10):
        turns = [
            turn(CallTool("call_0", "look", {})),
            turn(CallTool("call_0", "dig", {})),
        ]
        day = Recorder()
        async with scene(*turns, store=day, tools=TOOLS) as stage:
            await stage.submit("hi", await stage.session(), "r0")
            await asked(stage)
            store = await day.as_of(len(day.writes))
        async with scene(store=store, id="again") as stage:
            await stage.workspace.ended(RunId("r0"))
            results = [r for message in await stage.messages(await the_session(stage)) for r in message.tool_results]
    assert [(result.name, result.is_error) for result in results] == [("look", False), ("dig", True)]
