"""Titles: by the small model, beside the answer, and nobody's business but an unnamed session's."""

import anyio
import pytest
from anyio import fail_after

from tests.engine.turns.scenes import PATIENT, told
from turnkeeper.engine import conversations
from turnkeeper.engine.means import Knobs
from turnkeeper.models.model import ModelInfo, Trouble
from turnkeeper.models.scripted import SCRIPTED, CallTool, Fail, Hold, Say, ScriptedModel, Stop, Turn, Use, turn
from turnkeeper.protocol import events as e
from turnkeeper.protocol.ids import SessionId
from turnkeeper.protocol.messages import FinishReason
from turnkeeper.protocol.runs import Outcome, Prompt, Usage
from turnkeeper.testing.scene import PlainTool, Stage, scene
from turnkeeper.tools.tool import Call, Hands

PROMPT = "please look at the tests and tell me why they fail so often"


async def title_of(stage: Stage, session: SessionId) -> str:
    await anyio.sleep(1)
    info = await stage.store.session(session)
    assert info is not None
    return info.title


async def test_the_small_model_names_a_session_from_its_first_prompt() -> None:
    small = ScriptedModel([turn(Say("<think>hm</think> Why the tests\nfail"))])
    with fail_after(60):
        async with scene(turn(Say("because")), small=small) as stage:
            session = await stage.session("New Session")
            await stage.run(PROMPT, session)
            title = await title_of(stage, session)
            renamed = await told(stage.store, e.SessionRenamed)
    assert title == "Why the tests fail"
    assert renamed == [e.SessionRenamed(title)]
    (question,) = small.questions
    assert (question.system, question.tools, PROMPT in question.messages[0].text) == (("You are the title.",), (), True)


async def test_an_answer_does_not_wait_for_its_title() -> None:
    small = ScriptedModel([turn(Hold("never"))])
    with fail_after(60):
        async with scene(turn(Say("because")), small=small, knobs=PATIENT) as stage:
            session = await stage.session()
            began = anyio.current_time()
            run = await stage.run(PROMPT, session)
            took = anyio.current_time() - began
            busy = stage.workspace.is_busy(session)
    assert (run.outcome, took, busy) == (Outcome.COMPLETED, 0, False)


async def test_a_title_that_takes_too_long_is_the_prompt_itself() -> None:
    small = ScriptedModel([turn(Hold("never"))])
    with fail_after(600):
        async with scene(turn(Say("because")), small=small, knobs=Knobs(title_seconds=30)) as stage:
            session = await stage.session()
            await stage.run(PROMPT, session)
            before = await title_of(stage, session)
            await anyio.sleep(30)
            title = await title_of(stage, session)
    assert (before, title) == ("", "please look at the tests and tell me why they fai…")
    assert small.streams_open == 0


@pytest.mark.parametrize(
    ("small", "large", "title"),
    [
        (turn(Fail(Trouble.REFUSED)), turn(Say("By the large one")), "By the large one"),
        (turn(Say("  ")), turn(Say("By the large one")), "By the large one"),
        (turn(Say("cut of"), Stop(FinishReason.MAX_TOKENS)), turn(Say("By the large one")), "By the large one"),
        (turn(Fail(Trouble.BUSY)), turn(Fail(Trouble.BUSY)), "please look at the tests and tell me why they fai…"),
    ],
)
async def test_where_the_small_model_has_none_the_large_one_is_asked_and_then_nobody(
    small: Turn, large: Turn, title: str
) -> None:
    both = ScriptedModel([Turn(large.steps, when="Generate a title"), turn(Say("because"))])
    with fail_after(60):
        async with scene(large=both, small=ScriptedModel([small])) as stage:
            session = await stage.session()
            run = await stage.run(PROMPT, session)
            named = await title_of(stage, session)
    assert (run.text, named) == ("because", title)


async def test_only_the_first_prompt_names_a_session() -> None:
    small = ScriptedModel([turn(Say("First")), turn(Say("Second"))])
    with fail_after(60):
        async with scene(turn(Say("one")), turn(Say("two")), small=small) as stage:
            session = await stage.session()
            await stage.run("one", session)
            await anyio.sleep(1)
            await stage.run("two", session)
            assert await title_of(stage, session) == "First"
    assert small.turns_left == 1


async def test_two_prompts_at_once_look_for_one_title() -> None:
    small = ScriptedModel([turn(Hold("naming"), Say("First")), turn(Say("Second"))])
    with fail_after(60):
        async with scene(turn(Say("one")), turn(Say("two")), small=small) as stage:
            session = await stage.session()
            await stage.run("one", session)
            await stage.run("two", session)
            small.release("naming")
            assert await title_of(stage, session) == "First"
    assert small.turns_left == 1


@pytest.mark.parametrize("when", ["from the beginning", "before it is asked for", "while it is thought of"])
async def test_a_name_a_person_gave_stays(when: str) -> None:
    small = ScriptedModel([turn(Hold("naming"), Say("A model's idea"))])
    with fail_after(60):
        async with scene(turn(Hold("here"), Say("because")), small=small) as stage:
            session = await stage.session("Mine" if when == "from the beginning" else "New Session")
            info = await conversations.found(stage.workspace, session)
            if when == "before it is asked for":
                await conversations.change(stage.workspace, info, title="Mine", todos=None)
            run_id = await stage.submit(PROMPT, session)
            await stage.model.reached("here")
            if when == "while it is thought of":
                await small.reached("naming")
                await conversations.change(stage.workspace, info, title="Mine", todos=None)
            small.release("naming")
            stage.model.release("here")
            await stage.workspace.ended(run_id)
            assert await title_of(stage, session) == "Mine"


async def test_a_persons_name_wins_even_over_a_title_that_was_on_its_way() -> None:
    """Both are said at the same moment: whichever the log has last, the person's is shown."""
    with fail_after(60):
        async with scene() as stage:
            session = await stage.session()
            live = stage.workspace.awake(session)
            from turnkeeper.core import commands

            letters = [
                live.send(commands.Note((e.SessionRenamed("Mine", by_person=True),))),
                live.send(commands.Note((e.SessionRenamed("A model's idea"),))),
            ]
            for letter in letters:
                await letter.answer()
            assert await title_of(stage, session) == "Mine"


async def test_a_title_that_failed_costs_no_name_and_no_run() -> None:
    class Broken(ScriptedModel):
        def _next(self, question: object) -> Turn:
            raise RuntimeError("a stranger's defect")

    with fail_after(60):
        async with scene(turn(Say("one")), turn(Say("two")), small=Broken()) as stage:
            session = await stage.session("New Session")
            first = await stage.run("one", session)
            named = await title_of(stage, session)
            second = await stage.run("two", session)
    assert (first.text, second.text, named) == ("one", "two", "New Session")


async def test_a_child_session_is_never_given_a_title() -> None:
    async def send(call: Call, hands: Hands) -> str:
        return await hands.delegate("look", title="New Agent Session", kind="task")

    small = ScriptedModel([turn(Say("Of the parent")), turn(Say("Of the child"))])
    with fail_after(60):
        async with scene(
            turn(CallTool("c1", "agent")),
            turn(Say("seen")),
            turn(Say("done")),
            tools=[PlainTool("agent", send)],
            small=small,
        ) as stage:
            session = await stage.session()
            await stage.run("go", session)
            await anyio.sleep(1)
            (child,) = await stage.store.sessions(parent=session)
    assert (child.title, small.turns_left) == ("New Agent Session", 1)


async def test_a_title_is_paid_for_by_the_session_and_leaves_the_context_alone() -> None:
    small = ScriptedModel([turn(Say("Named"), Use(Usage(input_tokens=1_000_000)))])
    large = turn(Say("because"), Use(Usage(input_tokens=10, output_tokens=5)))
    with fail_after(60):
        async with scene(large, small=small) as stage:
            session = await stage.session()
            run = await stage.run(PROMPT, session)
            await anyio.sleep(1)
            info = await stage.store.session(session)
    assert info is not None
    assert (info.cost, run.usage.cost) == (pytest.approx(1.00002), pytest.approx(0.00002))
    assert (info.prompt_tokens, info.completion_tokens) == (10, 5)


async def test_a_model_that_thinks_has_room_to_think_of_a_title() -> None:
    asked: list[int] = []
    for thinks in (True, False):
        info = ModelInfo(id="s", provider="p", can_reason=thinks, default_max_tokens=8_000)
        small = ScriptedModel([turn(Say("Named"))], info=info)
        with fail_after(60):
            async with scene(turn(Say("x")), small=small) as stage:
                session = await stage.session()
                await stage.run(PROMPT, session)
                await anyio.sleep(1)
        asked.append(small.questions[0].max_tokens)
    assert asked == [8_000, 40]
    assert SCRIPTED.default_max_tokens == 8_000


async def test_a_prompt_without_words_names_nothing_yet() -> None:
    small = ScriptedModel([turn(Say("Named"))])
    with fail_after(60):
        async with scene(turn(Say("one")), turn(Say("two")), small=small) as stage:
            from turnkeeper.engine.submitting import Submission, submit
            from turnkeeper.protocol.runs import Attachment

            session = await stage.session()
            file = Attachment("a.txt", "a.txt", "text/plain", b"hello")
            run_id = await submit(stage.workspace, Submission(session, Prompt("", (file,))))
            await stage.workspace.ended(run_id)
            before = await title_of(stage, session)
            await stage.run("read it", session)
            assert (before, await title_of(stage, session)) == ("", "Named")
