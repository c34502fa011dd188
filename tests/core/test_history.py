"""Whatever was inserted meanwhile or cut off by a crash, a model is shown a valid conversation."""

import base64

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.conversations import SESSION, answer, call, calling, conversation, media, person, result, results, said
from turnkeeper.core.history import (
    BEGINNING,
    CONTINUED,
    NEVER_FINISHED,
    NEVER_RECEIVED,
    compact_at,
    continuation,
    original,
    reminder,
    replay,
)
from turnkeeper.core.rendering import (
    ATTACHMENT_BYTES_MAX,
    INVALID_MEDIA,
    MEDIA_BYTES_MAX,
    MOVED_MEDIA,
    TOOL_INPUT_BYTES_MAX,
    TOOL_RESULT_BYTES_MAX,
    UNSEEN_MEDIA,
    Sight,
)
from turnkeeper.core.validity import problems
from turnkeeper.protocol.ids import MessageId, ToolCallId
from turnkeeper.protocol.messages import (
    STOPPED,
    Binary,
    Finish,
    FinishReason,
    ImageUrl,
    Message,
    Part,
    Reasoning,
    Role,
    ShellCommand,
    Text,
    ToolCall,
    ToolResult,
)
from turnkeeper.protocol.sessions import Todo, TodoStatus

PICTURE = b"\x89PNG picture"
PICTURE_TEXT = base64.b64encode(PICTURE).decode()
BLIND, SEEING, TAKING = Sight(), Sight(images=True), Sight(images=True, media_in_tool_results=True)
SHELL = ShellCommand("ls --color", "\x1b[1;32ma.py\x1b[0m\n\x1b]8;;file://b\x07b.py\x1b]8;;\x07\n", 0)


def lines(messages: tuple[Message, ...]) -> list[str]:
    """A conversation, a line a message: who, and what in short."""
    return [f"{message.role}: {', '.join(filter(None, map(short, message.parts)))}" for message in messages]


def short(part: Part) -> str:
    match part:
        case Text(text=text):
            return text
        case Reasoning(thinking=thinking):
            return f"({thinking})"
        case ToolCall(id=id, input=arguments):
            return f"{id}{arguments}"
        case ToolResult(tool_call_id=id, content=content, is_error=is_error, data=data):
            return f"{id}{'!' if is_error else '='}{content}{'+media' if data else ''}"
        case Binary(path=path):
            return f"<{path}>"
        case ImageUrl(url=url):
            return f"<{url}>"
        case ShellCommand() | Finish():
            return ""


def test_an_ordinary_conversation_is_shown_as_it_is() -> None:
    told = conversation(
        person("look", STOPPED),
        calling(Reasoning("hm", signature="sig", provider_data="{}"), "I look", call("a")),
        results(result("a"), id="m2-results"),
        answer("seen", id="m4"),
    )
    expected = [msgspec.structs.replace(told[0], parts=(Text("look"),)), *told[1:]]
    assert list(replay(told)) == expected


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        pytest.param(
            [
                person("go"),
                calling(call("a"), call("b")),
                person("hold on"),
                results(result("b")),
                results(result("a")),
            ],
            ["user: go", 'assistant: a{"path":"a"}, b{"path":"a"}', "tool: a=fine, b=fine", "user: hold on"],
            id="results move next to their call, in the order of the calls",
        ),
        pytest.param(
            [person("go"), calling(call("a"), call("b")), results(result("b")), person("and?")],
            ["user: go", 'assistant: a{"path":"a"}, b{"path":"a"}', f"tool: a!{NEVER_FINISHED}, b=fine", "user: and?"],
            id="only the missing result is made up, and once",
        ),
        pytest.param(
            [person("go"), calling(call("a", input='{"pa', finished=False), finish=None), person("and?")],
            ["user: go", "assistant: a{}", f"tool: a!{NEVER_RECEIVED}", "user: and?"],
            id="a call cut while it was received is closed",
        ),
        pytest.param(
            [person("go"), calling(call("a", input="")), results(result("a"))],
            ["user: go", "assistant: a{}", "tool: a=fine"],
            id="empty arguments are an empty object",
        ),
        pytest.param(
            [person("go"), calling(call("a", input="[1, nonsense")), results(result("a", "bad", is_error=True))],
            ["user: go", "assistant: a{}", "tool: a!bad"],
            id="arguments that are no object are an empty one",
        ),
        pytest.param(
            [person("go"), results(result("nobody")), calling(call("a")), results(result("a"), result("a", "again"))],
            ["user: go", 'assistant: a{"path":"a"}', "tool: a=fine"],
            id="orphans and second results are dropped",
        ),
        pytest.param(
            [
                person("go"),
                calling(call("0")),
                results(result("0", "one")),
                calling(call("0")),
                results(result("0", "two")),
            ],
            ["user: go", 'assistant: 0{"path":"a"}', "tool: 0=one", 'assistant: 0-2{"path":"a"}', "tool: 0-2=two"],
            id="ids that repeat are told apart, each with its own result",
        ),
        pytest.param(
            [person("go"), calling(call("0")), person("?"), calling(call("0")), results(result("0", "two"))],
            [
                "user: go",
                'assistant: 0{"path":"a"}',
                f"tool: 0!{NEVER_FINISHED}",
                "user: ?",
                'assistant: 0-2{"path":"a"}',
                "tool: 0-2=two",
            ],
            id="a result belongs to the latest call of its id",
        ),
        pytest.param(
            [person("go"), results(result("a", "early")), calling(call("a"), call("a")), results(result("a", "late"))],
            ["user: go", 'assistant: a{"path":"a"}', "tool: a=late"],
            id="a call made twice in one answer is one, and the result after it is its own",
        ),
        pytest.param(
            [person("go"), results(result("a", "early")), calling(call("a")), person("?")],
            ["user: go", 'assistant: a{"path":"a"}', "tool: a=early", "user: ?"],
            id="a result that came before its call is kept if there is no other",
        ),
        pytest.param(
            [person("go"), calling(call("a")), calling(call("a")), calling(call("a-2")), results(result("a-2"))],
            [
                "user: go",
                'assistant: a{"path":"a"}',
                f"tool: a!{NEVER_FINISHED}",
                'assistant: a-3{"path":"a"}',
                f"tool: a-3!{NEVER_FINISHED}",
                'assistant: a-2{"path":"a"}',
                "tool: a-2=fine",
            ],
            id="an id that is counted up takes nobody else's",
        ),
        pytest.param(
            [person("go"), person(STOPPED), answer(), answer("  "), answer(Reasoning("hm")), person("\n")],
            ["user: go"],
            id="messages without content are skipped, thinking alone included",
        ),
        pytest.param(
            [person("go"), answer(Reasoning("hm"), "well", Reasoning("cut", signature="s")), person("on")],
            ["user: go", "assistant: (hm), well", "user: on"],
            id="an answer does not end in the middle of its thinking",
        ),
        pytest.param(
            [person("go"), answer("Let me", finish=None)],
            ["user: go"],
            id="an answer cut at the end is asked for again",
        ),
        pytest.param(
            [person("go"), answer("Let me", finish=None), person("go on")],
            ["user: go", "assistant: Let me", "user: go on"],
            id="an answer cut earlier is kept",
        ),
        pytest.param(
            [answer("hello"), person("go")],
            [f"user: {BEGINNING}", "assistant: hello", "user: go"],
            id="a conversation begins with a person",
        ),
    ],
)
def test_a_conversation_is_repaired(told: list[Message], expected: list[str]) -> None:
    shown = replay(conversation(*told))
    assert lines(shown) == expected
    assert problems(shown) == []


def test_a_conversation_is_cut_at_its_summary_which_then_speaks_as_the_person() -> None:
    told = conversation(
        person("go"),
        answer("failed summary", is_summary=True),
        answer("done"),
        answer(Reasoning("hm"), "so far: done", id="sum", is_summary=True),
        person("more"),
    )
    assert lines(replay(told, summary_id=MessageId("sum"))) == ["user: so far: done", "user: more"]
    assert lines(replay(told)) == ["user: go", "assistant: done", "user: more"]
    assert lines(replay(told, summary_id=MessageId("gone"))) == ["user: go", "assistant: done", "user: more"]


def test_a_summary_without_text_cuts_nothing() -> None:
    told = conversation(person("go"), answer("done"), answer(id="sum", finish=FinishReason.ERROR, is_summary=True))
    assert lines(replay(told, summary_id=MessageId("sum"))) == ["user: go", "assistant: done"]


def test_attached_text_and_shell_commands_become_text() -> None:
    notes = Binary("it's/notes.md", "text/markdown", b"# Notes\n")
    (shown,) = replay(conversation(person(" read these ", notes, SHELL)))
    assert shown.parts == (
        Text("read these"),
        Text(
            "<system_info>The person attached the following file.</system_info>\n"
            "<file path='it&apos;s/notes.md'>\n# Notes\n\n</file>"
        ),
        Text("$ ls --color\na.py\nb.py\nExit code: 0"),
    )


def test_a_model_that_sees_is_shown_pictures_and_another_is_told_of_them() -> None:
    picture = Binary("a.png", "image/png", PICTURE)
    told = conversation(person("what is this?", Binary("n.txt", "text/plain", b"note"), picture, ImageUrl("http://p")))
    (seen,) = replay(told, sight=SEEING)
    assert seen.parts[2:] == (picture, ImageUrl("http://p"))
    (blind,) = replay(told, sight=BLIND)
    assert not any(isinstance(part, Binary | ImageUrl) for part in blind.parts)
    assert "note" in blind.text
    assert "[The file a.png is left out here: this model reads text only.]" in blind.text


def test_a_picture_no_provider_would_take_is_left_out_with_its_reason() -> None:
    huge = Binary("huge.png", "image/png", bytes(MEDIA_BYTES_MAX + 1))
    (shown,) = replay(conversation(person("look", huge)), sight=SEEING)
    assert shown.parts[1:] == (
        Text(f"[The file huge.png is left out here: {MEDIA_BYTES_MAX + 1} bytes are more than {MEDIA_BYTES_MAX}.]"),
    )


def test_media_stay_in_the_result_where_the_provider_takes_them() -> None:
    told = conversation(person("go"), calling(call("a")), results(media("a", PICTURE_TEXT), id="m2-results"))
    assert replay(told, sight=TAKING) == told


def test_media_follow_as_a_persons_message_where_results_are_text() -> None:
    told = conversation(
        person("go"), calling(call("a"), call("b")), person("?"), results(media("b", PICTURE_TEXT), result("a"))
    )
    shown = replay(told, sight=SEEING)
    assert lines(shown) == [
        "user: go",
        'assistant: a{"path":"a"}, b{"path":"a"}',
        f"tool: a=fine, b=Loaded\n{MOVED_MEDIA}",
        "user: <tool-result-b>",
        "user: ?",
    ]
    assert shown[3].parts == (Binary("tool-result-b", "image/png", PICTURE),)


def test_media_are_only_mentioned_to_a_model_that_reads_text_alone() -> None:
    told = conversation(person("go"), calling(call("a")), results(media("a", PICTURE_TEXT)))
    assert lines(replay(told, sight=BLIND))[2:] == [f"tool: a=Loaded\n{UNSEEN_MEDIA}"]


@pytest.mark.parametrize(
    "data", ["\x00\xff picture", "not base64 at all", PICTURE_TEXT.rstrip("=") + "x", "YWJj\n", "YR=="]
)
def test_damaged_media_are_replaced_under_the_same_call(data: str) -> None:
    told = conversation(person("go"), calling(call("a")), results(media("a", data, content="")))
    assert lines(replay(told, sight=TAKING))[2:] == [f"tool: a={INVALID_MEDIA}"]


def test_the_result_of_a_failed_call_has_no_media() -> None:
    failed = msgspec.structs.replace(media("a", PICTURE_TEXT, content="no"), is_error=True)
    assert lines(replay(conversation(person("go"), calling(call("a")), results(failed)), sight=TAKING))[2:] == [
        "tool: a!no"
    ]


def test_whatever_is_too_long_is_cut_and_says_so() -> None:
    told = conversation(
        person(Binary("a.log", "text/plain", b"x" * (ATTACHMENT_BYTES_MAX + 9))),
        calling(call("a", input='{"text":"' + "y" * TOOL_INPUT_BYTES_MAX + '"}')),
        results(result("a", "B" + "ä" * TOOL_RESULT_BYTES_MAX + "E")),
    )
    user, answered, tool = replay(told)
    assert len(user.text) < ATTACHMENT_BYTES_MAX + 200
    assert "bytes left out here" in user.text
    assert answered.tool_calls[0].input == f'{{"left_out":"{TOOL_INPUT_BYTES_MAX + 11} bytes of arguments"}}'
    content = tool.tool_results[0].content
    assert len(content.encode()) <= TOOL_RESULT_BYTES_MAX
    assert content.startswith("Bä")
    assert content.endswith("äE")
    assert "bytes left out here" in content


def test_the_reminder_tells_the_truth_about_the_todo_list() -> None:
    assert "empty" in reminder([])
    told = reminder([Todo("write", TodoStatus.IN_PROGRESS), Todo("read", TodoStatus.COMPLETED)])
    assert "- [in_progress] write\n- [completed] read" in told
    assert "2 entries, 1 of them open" in told
    assert "empty" not in told


def test_the_reminder_stands_before_the_last_thing_a_person_said() -> None:
    told = conversation(
        person("go"), answer("done"), person("more"), calling(call("a")), results(media("a", PICTURE_TEXT))
    )
    roles = [(message.role, "<system_reminder>" in message.text) for message in replay(told, sight=SEEING, todos=())]
    assert roles == [
        (Role.USER, False),
        (Role.ASSISTANT, False),
        (Role.USER, True),
        (Role.USER, False),
        (Role.ASSISTANT, False),
        (Role.TOOL, False),
        (Role.USER, False),
    ]


@pytest.mark.parametrize(
    ("window", "used", "full"),
    [
        (0, 10**9, False),
        (100_000, 79_999, False),
        (100_000, 80_000, True),
        (200_000, 159_999, False),
        (200_000, 160_000, True),
        (200_001, 180_000, False),
        (200_001, 180_001, True),
        (1_000_000, 979_999, False),
        (1_000_000, 980_000, True),
    ],
)
def test_a_context_is_compacted_before_it_is_full(window: int, used: int, full: bool) -> None:
    assert compact_at(window=window, used=used) is full


def test_a_task_continued_again_and_again_is_quoted_once() -> None:
    task = "Build the house.\nAll of it."
    prompt = task
    for _ in range(5):
        prompt = continuation(prompt)
    assert prompt == CONTINUED + task
    assert original(prompt) == task


# Any conversation at all. Ids are few, so that they collide; objects are reused, as they are by what reads them.
TEXTS = st.sampled_from(["", " ", "x", "é" * 3, "\ud800"])
IDS = st.sampled_from([ToolCallId(id) for id in ("", "a", "a-2", "b", "call", "call-2")])
DATA = st.sampled_from(["", PICTURE_TEXT, "broken", "YQ==", "YQ"])
PARTS = st.one_of(
    st.builds(Text, TEXTS),
    st.builds(Reasoning, TEXTS, signature=st.sampled_from(["", "sig"])),
    st.builds(
        ToolCall,
        IDS,
        st.just("view"),
        st.sampled_from(["", "{}", "[1]", '{"a":1}', '{"a', "NaN"]),
        finished=st.booleans(),
        provider_executed=st.booleans(),
    ),
    st.builds(ToolResult, IDS, st.just("view"), TEXTS, data=DATA, is_error=st.booleans()),
    st.builds(Finish, st.sampled_from(FinishReason)),
    st.builds(Binary, st.just("f"), st.sampled_from(["text/plain", "image/png"]), st.sampled_from([b"", b"\xff"])),
    st.builds(ShellCommand, TEXTS, TEXTS, st.just(1)),
    st.builds(ImageUrl, TEXTS),
)
MESSAGES = st.builds(
    Message,
    id=st.sampled_from([MessageId(f"m{n}") for n in range(4)]),
    session_id=st.just(SESSION),
    role=st.sampled_from(Role),
    parts=st.lists(PARTS, max_size=5).map(tuple),
    is_summary=st.booleans(),
)
SIGHTS = st.sampled_from([BLIND, SEEING, TAKING])


@settings(max_examples=400, deadline=None)
@given(st.lists(MESSAGES, max_size=8), SIGHTS, st.sampled_from([MessageId(""), MessageId("m1")]))
def test_any_messages_at_all_make_a_valid_conversation_and_replaying_it_changes_nothing(
    told: list[Message], sight: Sight, summary_id: MessageId
) -> None:
    shown = replay(told, sight=sight, summary_id=summary_id)
    assert problems(shown) == []
    assert replay(shown, sight=sight, summary_id=summary_id) == shown


TURNS = st.lists(st.integers(0, 3), min_size=1, max_size=5)


@settings(max_examples=200, deadline=None)
@given(TURNS, st.data())
def test_a_crash_anywhere_and_any_interleaving_lose_no_result_that_was_given(
    turns: list[int], data: st.DataObject
) -> None:
    told: list[Message] = [person("go", id="u")]
    late: list[Message] = []
    for turn, calls in enumerate(turns):
        ids = [f"{turn}.{n}" for n in range(calls)]
        told += [*late, calling("so", *map(call, ids), id=f"a{turn}")]
        late = data.draw(st.permutations([*(results(result(id, f"of {id}")) for id in ids), person("aside")]))
    told = told + late
    cut = told[: data.draw(st.integers(1, len(told)))]
    shown = replay(cut)
    assert problems(shown) == []
    said_aside = [message.text for message in cut if message.role is Role.USER]
    assert [message.text for message in shown if message.role is Role.USER] == said_aside
    given_results = {r.tool_call_id: r.content for message in cut for r in message.tool_results}
    shown_results = {r.tool_call_id: r.content for message in shown for r in message.tool_results}
    assert given_results.items() <= shown_results.items()
    assert {id for id in shown_results if id not in given_results} == {
        c.id for message in cut for c in message.tool_calls if c.id not in given_results
    }


@pytest.mark.parametrize(
    "broken",
    [
        [answer("hello")],
        [person(STOPPED)],
        [person("go"), calling(call("a"))],
        [person("go"), calling(call("a"), call("b")), results(result("b"), result("a"))],
        [person("go"), calling(call("a")), person("?"), results(result("a"))],
        [person("go"), calling(call("a")), results(result("a")), calling(call("a")), results(result("a"))],
        [person("go"), calling(call("a", input="")), results(result("a"))],
        [person("go"), calling(call("a")), results(media("a", "broken"))],
        [person("go"), results(result("a"))],
        [person("go"), answer("x", Reasoning("hm"))],
        [person("go"), answer("x", finish=None)],
        [person(SHELL)],
        [person("go"), said(Role.SYSTEM, "x")],
    ],
)
def test_what_a_provider_refuses_is_found_by_the_check(broken: list[Message]) -> None:
    assert len(problems(conversation(*broken))) > 0
