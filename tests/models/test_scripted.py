"""The scripted model says exactly its script, and never a word before its gate is open."""

from pathlib import Path

import anyio
import pytest
from msgspec.structs import replace

from turnkeeper.models.model import (
    Chunk,
    Finished,
    Model,
    ModelTrouble,
    Purpose,
    Question,
    ReasoningDone,
    ReasoningSaid,
    TextSaid,
    ToolCallBegun,
    ToolCallDone,
    ToolInputSaid,
    Trouble,
    UsageSaid,
)
from turnkeeper.models.scripted import (
    CallTool,
    Cut,
    Fail,
    Hold,
    Say,
    ScriptedModel,
    Stop,
    Think,
    Use,
    load_script,
    turn,
)
from turnkeeper.protocol.ids import MessageId, SessionId, ToolCallId
from turnkeeper.protocol.messages import FinishReason, Message, Role, Text
from turnkeeper.protocol.runs import Usage
from turnkeeper.testing.clock import JUMPING

pytestmark = pytest.mark.anyio

CALL = ToolCallId("call-1")


def asked(text: str) -> Question:
    return Question((), (Message(MessageId("m"), SessionId("s"), Role.USER, (Text(text),)),))


async def answer(model: Model, text: str = "hello") -> list[Chunk]:
    return [chunk async for chunk in model.stream(asked(text))]


async def test_a_turn_is_played_in_order_and_ends_with_the_obvious_reason() -> None:
    model = ScriptedModel(
        [
            turn(Think("hm", "sig"), Say("look", characters=3), CallTool("call-1", "ls", {"path": "."})),
            turn(Say("done"), Use(Usage(input_tokens=3))),
        ]
    )
    assert await answer(model) == [
        ReasoningSaid("hm"),
        ReasoningDone("sig"),
        TextSaid("loo"),
        TextSaid("k"),
        ToolCallBegun(CALL, "ls"),
        ToolInputSaid(CALL, '{"path":"."}'),
        ToolCallDone(CALL, "ls", '{"path":"."}'),
        Finished(FinishReason.TOOL_USE),
    ]
    assert await answer(model, "thanks") == [
        TextSaid("done"),
        UsageSaid(Usage(input_tokens=3)),
        Finished(FinishReason.END_TURN),
    ]
    assert [question.messages[-1].text for question in model.questions] == ["hello", "thanks"]


async def test_nothing_is_said_behind_a_gate_until_it_is_released() -> None:
    model = ScriptedModel([turn(Say("a"), Hold("middle"), Say("b"))])
    heard: list[Chunk] = []

    async def listen() -> None:
        async for chunk in model.stream(asked("go")):
            heard.append(chunk)  # noqa: PERF401 - the test looks at what was heard so far

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listen)
            await model.reached("middle")
            assert heard == [TextSaid("a")]
            model.release("middle")
    assert heard == [TextSaid("a"), TextSaid("b"), Finished(FinishReason.END_TURN)]
    assert model.streams_open == 0


async def test_a_failing_turn_raises_the_trouble_it_was_told() -> None:
    model = ScriptedModel([turn(Say("a"), Fail(Trouble.BUSY, "slow down", status=429, retry_after_seconds=2.0))])
    stream = model.stream(asked("go"))
    assert await anext(stream) == TextSaid("a")
    with pytest.raises(ModelTrouble) as trouble:
        await anext(stream)
    found = trouble.value
    assert (found.trouble, found.message, found.status, found.retry_after_seconds) == (
        Trouble.BUSY,
        "slow down",
        429,
        2.0,
    )
    assert model.streams_open == 0


async def test_a_cut_is_a_trouble_or_a_stream_that_merely_stops() -> None:
    model = ScriptedModel([turn(Say("a"), Cut()), turn(Say("b"), Cut(quietly=True), Say("never"))])
    with pytest.raises(ModelTrouble) as trouble:
        await answer(model)
    assert trouble.value.trouble is Trouble.CUT
    assert await answer(model) == [TextSaid("b")]


async def test_a_stop_says_its_own_reason_and_ends_the_turn() -> None:
    model = ScriptedModel([turn(Say("a"), Stop(FinishReason.MAX_TOKENS), Say("never"))])
    assert await answer(model) == [TextSaid("a"), Finished(FinishReason.MAX_TOKENS)]


async def test_a_turn_with_when_waits_for_its_question() -> None:
    model = ScriptedModel([turn(Say("a title"), when="title"), turn(Say("an answer"))])
    assert (await answer(model, "what is up?"))[0] == TextSaid("an answer")
    assert (await answer(model, "write a title"))[0] == TextSaid("a title")
    assert model.turns_left == 0


async def test_a_question_beyond_the_script_is_refused_unless_it_starts_again() -> None:
    model = ScriptedModel([turn(Say("once"))], again=True)
    assert await answer(model) == await answer(model)
    model = ScriptedModel([])
    with pytest.raises(ModelTrouble, match="no turn left for question 1"):
        await answer(model)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (
            "script.json",
            (
                '{"turns": [{"steps": [{"kind": "say", "text": "hi"},'
                ' {"kind": "call_tool", "id": "call-1", "name": "ls", "input": {"path": "."}}]}]}'
            ),
        ),
        (
            "script.toml",
            (
                '[[turns]]\n[[turns.steps]]\nkind = "say"\ntext = "hi"\n'
                '[[turns.steps]]\nkind = "call_tool"\nid = "call-1"\nname = "ls"\ninput = {path = "."}\n'
            ),
        ),
    ],
)
async def test_a_script_can_be_kept_in_a_file(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    assert await answer(load_script(tmp_path / name)) == [
        TextSaid("hi"),
        ToolCallBegun(CALL, "ls"),
        ToolInputSaid(CALL, '{"path":"."}'),
        ToolCallDone(CALL, "ls", '{"path":"."}'),
        Finished(FinishReason.TOOL_USE),
    ]


async def test_a_title_uses_up_no_turn_of_a_script_in_a_file(tmp_path: Path) -> None:
    steps = '[{"steps": [{"kind": "say", "text": "an answer"}]}]'
    for said, title in (('"title": "A name", ', [TextSaid("A name")]), ("", [])):
        (tmp_path / "script.json").write_text(f'{{{said}"turns": {steps}}}')
        model = load_script(tmp_path / "script.json")
        question = replace(asked("Generate a title"), purpose=Purpose.TITLE)
        assert [chunk async for chunk in model.stream(question)] == [*title, Finished(FinishReason.END_TURN)]
        assert (await answer(model))[0] == TextSaid("an answer")


@pytest.mark.parametrize("anyio_backend", [JUMPING], ids=["jumping"])
async def test_a_script_takes_its_time_and_a_slow_reader_makes_nothing_later(tmp_path: Path) -> None:
    steps = (
        '{"kind": "pause", "seconds": 2}, {"kind": "say", "text": "abc", "characters": 1, "every_seconds": 0.5},'
        '{"kind": "think", "text": "hm", "every_seconds": 1}'
    )
    (tmp_path / "script.json").write_text(f'{{"turns": [{{"steps": [{steps}]}}]}}')
    model = load_script(tmp_path / "script.json")
    begun = anyio.current_time()
    heard: list[tuple[float, Chunk]] = []
    async for chunk in model.stream(asked("go")):
        heard.append((anyio.current_time() - begun, chunk))
        await anyio.sleep(0.25)
    assert heard == [
        (2.5, TextSaid("a")),
        (3.0, TextSaid("b")),
        (3.5, TextSaid("c")),
        (4.75, ReasoningSaid("hm")),
        (5.75, ReasoningDone()),
        (6.0, Finished(FinishReason.END_TURN)),
    ]


async def test_a_script_that_cannot_be_read_says_which(tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text('{"turns": [{"steps": [{"kind": "sing"}]}]}')
    for name in ("broken.json", "missing.json"):
        with pytest.raises(ModelTrouble, match=name):
            load_script(tmp_path / name)
