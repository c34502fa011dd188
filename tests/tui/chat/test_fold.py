"""The fold: in whatever order the stream comes, doubled or with holes, it ends as what a fresh reader sees."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from msgspec.structs import replace

from tests.client.scene import WAIT_SECONDS, served
from tests.tui.chat import gallery
from turnkeeper.client import view as views
from turnkeeper.client.events import Told
from turnkeeper.client.view import Settled, View
from turnkeeper.models.scripted import CallTool, Say, Think, turn
from turnkeeper.protocol.messages import Finish, FinishReason, Message, ShellCommand, Text
from turnkeeper.protocol.wire_clients import ShellLine
from turnkeeper.protocol.wire_own import Snapshot
from turnkeeper.protocol.wire_stream import Envelope
from turnkeeper.testing.scene import PlainTool
from turnkeeper.tools.tool import Answer, Call, Hands
from turnkeeper.tui.chat.fold import NOTHING, Folded, fold
from turnkeeper.tui.chat.items import Ending, Footer, Item, Prompt, Said, Shell, Standing, Thought, Used, Working


@dataclass(frozen=True)
class Recording:
    """What a real server told of a session, and what it answers to somebody who asks only now."""

    session_id: str
    first: Snapshot
    told: Sequence[Envelope]
    last: Snapshot
    messages: Sequence[Message]


async def recorded() -> Recording:
    """Two runs: thinking, words in pieces, a tool with live output and one that fails, an ending each."""
    turns = (
        turn(
            Think("hm, let me see", characters=3),
            Say("I look.", characters=2),
            _call("c1", "look"),
            _call("c2", "fail"),
        ),
        turn(Say("That is **all** there is.", characters=4)),
        turn(Say("Goodbye.", characters=3)),
    )
    tools = [PlainTool("look", _look), PlainTool("fail", _fail)]
    told: list[Envelope] = []
    async with served(*turns, tools=tools) as server, server.workspace() as there:
        first = await there.snapshot()
        async with there.follow(after=first.position) as heard:
            session = await there.sessions.create("here")
            for prompt in ("Look around.", "Thank you."):
                run_id = await there.runs.submit(session.id, prompt)
                await _until_ended(heard, run_id, told)
        return Recording(session.id, first, told, await there.snapshot(), await there.messages.list(session.id))


def _call(id: str, name: str) -> CallTool:
    return CallTool(id, name, {"path": "x"}, characters=2)


async def _look(call: Call, hands: Hands) -> Answer:
    hands.progress("looking\n")
    return Answer("seen", metadata='{"number_of_files": 1}')


async def _fail(call: Call, hands: Hands) -> Answer:
    return Answer("broken", is_error=True)


async def _until_ended(heard: Any, run_id: str, told: list[Envelope]) -> None:
    with anyio.fail_after(WAIT_SECONDS):
        async for one in heard:
            if isinstance(one, Told):
                told.append(one.envelope)
                payload: Any = one.envelope.payload
                if one.envelope.kind == "run_complete" and payload.run_id == run_id:
                    return


@pytest.fixture(scope="module")
def record() -> Recording:
    return anyio.run(recorded)


def begun(record: Recording) -> View:
    return views.read(views.reading(views.begun(record.first), record.session_id), record.session_id, ())


def shown(items: Sequence[Item]) -> list[Item]:
    """What does not depend on when somebody came: a snapshot tells of past runs nothing but their messages."""
    return [item for item in items if not isinstance(item, Footer | Working)]


def test_a_conversation_is_told_as_it_was(record: Recording) -> None:
    view = begun(record)
    for envelope in record.told:
        view = views.seen(view, envelope)
    prompt, thought, said, look, fail, answer, _, thanks, goodbye, footer = fold(view, record.session_id).items
    assert isinstance(prompt, Prompt)
    assert prompt.text == "Look around."
    assert isinstance(thought, Thought)
    assert (thought.text, thought.thinking) == ("hm, let me see", False)
    assert isinstance(said, Said)
    assert (said.text, said.writing) == ("I look.", False)
    assert isinstance(look, Used)
    assert (look.standing, look.content) == (Standing.DONE, "seen")
    assert isinstance(fail, Used)
    assert (fail.standing, fail.content) == (Standing.FAILED, "broken")
    assert isinstance(answer, Said)
    assert answer.text == "That is **all** there is."
    assert isinstance(thanks, Prompt)
    assert isinstance(goodbye, Said)
    assert isinstance(footer, Footer)
    assert footer.usage is not None


Shuffle = Callable[[Sequence[Envelope]], Sequence[Envelope]]
orders = some.randoms(use_true_random=False)
holes = some.sets(some.integers(0, 400), max_size=80)


@settings(max_examples=60)
@given(dice=orders, holes=holes, doubled=some.lists(some.integers(0, 400), max_size=40), is_shuffled=some.booleans())
def test_remaking_what_changed_gives_what_remaking_all_gives(
    record: Recording, dice: Any, holes: set[int], doubled: list[int], is_shuffled: bool
) -> None:
    told = [one for at, one in enumerate(record.told) if at not in holes]
    for at in doubled:
        told.insert(dice.randrange(len(told) + 1), record.told[at % len(record.told)])
    if is_shuffled:
        dice.shuffle(told)
    view, folded = begun(record), NOTHING
    for envelope in told:
        view = views.seen(view, envelope)
        # Several changes at once, as a face is told of them.
        if dice.random() < 0.4:
            folded = fold(view, record.session_id, folded)
            assert folded.items == fold(view, record.session_id).items
    assert fold(view, record.session_id, folded).items == fold(view, record.session_id).items


@settings(max_examples=60)
@given(dice=orders, holes=holes, resumed_at=some.integers(0, 400), is_shuffled=some.booleans())
def test_after_whatever_was_missed_a_resume_shows_what_a_fresh_reader_sees(
    record: Recording, dice: Any, holes: set[int], resumed_at: int, is_shuffled: bool
) -> None:
    told = [one for at, one in enumerate(record.told) if at not in holes]
    if is_shuffled:
        dice.shuffle(told)
    view, folded = begun(record), NOTHING
    for envelope in told[:resumed_at]:
        view = views.seen(view, envelope)
        folded = fold(view, record.session_id, folded)
    # Missed, so begun again: the snapshot, the messages, and meanwhile the stream goes on with what was seen before.
    view = views.reading(views.renewed(view, record.last), record.session_id)
    for envelope in record.told[resumed_at:]:
        view = views.seen(view, envelope)
    view = views.read(view, record.session_id, record.messages)
    fresh = views.read(views.begun(record.last), record.session_id, record.messages)
    fresh = replace(fresh, runs=view.runs, settled=view.settled)
    after = fold(view, record.session_id, folded)
    assert shown(after.items) == shown(fold(fresh, record.session_id).items)


@settings(max_examples=60)
@given(holes=holes, doubled=some.sets(some.integers(0, 400), max_size=40))
def test_missed_and_doubled_fragments_leave_no_trace(record: Recording, holes: set[int], doubled: set[int]) -> None:
    view, folded = begun(record), NOTHING
    for at, envelope in enumerate(record.told):
        if at in holes and envelope.kind == "delta":
            continue
        for _ in range(2 if at in doubled else 1):
            view = views.seen(view, envelope)
        folded = fold(view, record.session_id, folded)
    whole = begun(record)
    for envelope in record.told:
        whole = views.seen(whole, envelope)
    assert folded.items == fold(whole, record.session_id).items


def test_one_changed_message_remakes_one_messages_items() -> None:
    before = fold(gallery.everything(), gallery.HERE)
    conversation = before.conversation
    last = conversation.messages["a3"]
    messages = {**conversation.messages, "a3": replace(last, parts=(Text("Other words."), gallery.END))}
    view = replace(before.view, conversations={gallery.HERE: replace(conversation, messages=messages)})
    after = fold(view, gallery.HERE, before)
    changed = [new.key for old, new in zip(before.items, after.items, strict=True) if old is not new]
    assert changed == ["a3:0"]


def test_nothing_changed_is_the_same_object() -> None:
    before = fold(gallery.everything(), gallery.HERE)
    assert fold(replace(before.view, config_revision=7), gallery.HERE, before).items is before.items


def test_a_sub_agents_calls_stand_below_the_call_that_began_it() -> None:
    agent = next(
        item for item in fold(gallery.everything(), gallery.HERE).items if isinstance(item, Used) and item.child
    )
    assert agent.child == "a2$$c6"
    assert [(one.name, one.standing) for one in agent.nested if isinstance(one, Used)] == [
        ("grep", Standing.DONE),
        ("view", Standing.DONE),
    ]


def test_a_sub_agent_that_goes_on_changes_its_call_alone() -> None:
    before = fold(gallery.everything(), gallery.HERE)
    child = before.view.conversations["a2$$c6"]
    more = gallery.model("n9", gallery.call("x9", "ls", path="/repo"))
    conversations = {**before.view.conversations, "a2$$c6": replace(child, messages={**child.messages, "n9": more})}
    after = fold(replace(before.view, conversations=conversations), gallery.HERE, before)
    changed = [new for old, new in zip(before.items, after.items, strict=True) if old is not new]
    assert [len(item.nested) for item in changed if isinstance(item, Used)] == [3]


def standings(view: View) -> list[Standing]:
    return [item.standing for item in fold(view, gallery.HERE).items if isinstance(item, Used)]


def test_of_calls_that_cannot_overlap_one_runs_and_the_others_wait_their_turn() -> None:
    calls = [gallery.call(f"c{n}", name, path="x") for n, name in enumerate(("bash", "bash", "fetch", "fetch"))]
    view = gallery.view_of([gallery.model("a", *calls, run="r")], gallery.active("r"))
    assert standings(view) == [Standing.RUNNING, Standing.PENDING, Standing.PENDING, Standing.PENDING]
    done = gallery.results("t", *(gallery.result(f"c{n}", "bash", "ok") for n in range(2)), run="r")
    view = gallery.view_of([gallery.model("a", *calls, run="r"), done], gallery.active("r"))
    assert standings(view) == [Standing.DONE, Standing.DONE, Standing.RUNNING, Standing.RUNNING]


def test_what_a_person_runs_beside_a_call_does_not_hide_that_the_call_runs() -> None:
    call = gallery.model("a", gallery.call("c", "bash", command="ls"), run="r")
    typed = replace(gallery.person("u", ""), parts=(ShellCommand("echo during", "during\n", 0),))
    view = gallery.view_of([call, typed], gallery.active("r"))
    assert [type(item) for item in fold(view, gallery.HERE).items] == [Used, Shell]


def test_a_line_that_runs_goes_on_as_an_item_of_the_message_it_becomes() -> None:
    line = ShellLine("u", gallery.HERE, "make", "anna", 7000, "one\n")
    view = gallery.view_of([gallery.person("p", "Hi")])
    running = fold(replace(view, lines={"u": line}), gallery.HERE)
    assert running.items[1:] == (Shell("u:0:shell", "make", "one\n", 0, "anna", 7, "running"),)
    stopping = fold(replace(view, lines={"u": replace(line, stopping=True)}), gallery.HERE, running)
    assert stopping.items[1:] == (Shell("u:0:shell", "make", "one\n", 0, "anna", 7, "stopping"),)
    assert stopping.items[0] is running.items[0]
    typed = replace(gallery.person("u", ""), parts=(ShellCommand("make", "one\ntwo\n", 0),))
    after = replace(gallery.view_of([gallery.person("p", "Hi"), typed]), lines={"u": line})
    (ended,) = fold(after, gallery.HERE, stopping).items[1:]
    assert (ended.key, ended.going_on if isinstance(ended, Shell) else "") == ("u:0:shell", "")
    assert fold(view, gallery.HERE, running).items == fold(view, gallery.HERE).items


def test_a_call_that_waits_for_a_person_says_so_and_one_whose_run_is_over_was_interrupted() -> None:
    assert standings(gallery.going_on()) == [Standing.RUNNING, Standing.WAITING]
    call = gallery.call("c", "bash", command="ls")
    gone = gallery.view_of([gallery.model("a", call, run="r")], gallery.ended("r", "interrupted"))
    assert standings(gone) == [Standing.INTERRUPTED]


def test_an_answer_to_a_request_changes_the_call_that_waited_for_it() -> None:
    waiting = fold(gallery.going_on(), gallery.HERE)
    answered = replace(waiting.view, permissions={}, settled={"p1": Settled("c1", by="anna")})
    after = fold(answered, gallery.HERE, waiting)
    calls = [item for item in after.items if isinstance(item, Used)]
    assert [(one.standing, one.by) for one in calls] == [(Standing.RUNNING, "anna"), (Standing.PENDING, "")]


def test_at_a_server_that_names_no_runs_the_last_turn_goes_on_while_the_session_is_busy() -> None:
    said = [gallery.person("u", "Hi"), gallery.model("a", gallery.call("c", "bash", command="ls"))]
    view = gallery.view_of(said)
    busy = replace(view, sessions={gallery.HERE: replace(view.sessions[gallery.HERE], is_busy=True)})
    begun = fold(busy, gallery.HERE)
    assert [item.standing for item in begun.items if isinstance(item, Used)] == [Standing.RUNNING]
    later = replace(busy, conversations=gallery.view_of([*said, gallery.person("u2", "And?")]).conversations)
    after = fold(later, gallery.HERE, begun)
    assert after.items == fold(later, gallery.HERE).items
    assert [item.standing for item in after.items if isinstance(item, Used)] == [Standing.INTERRUPTED]


def test_a_call_id_that_is_used_again_gets_its_own_result() -> None:
    def used(n: int) -> list[Message]:
        call, done = gallery.call("c", "ls", path=str(n)), gallery.result("c", "ls", f"result {n}")
        return [gallery.model(f"a{n}", call, gallery.TOOLS), gallery.results(f"t{n}", done)]

    items = fold(gallery.view_of([*used(1), *used(2)]), gallery.HERE).items
    assert [item.content for item in items if isinstance(item, Used)] == ["result 1", "result 2"]


@pytest.mark.parametrize(
    ("finish", "outcome", "kind"),
    [
        (Finish(FinishReason.CANCELED, 1, "User canceled request"), "cancelled", "cancelled"),
        (Finish(FinishReason.CANCELED, 1, "Interrupted"), "interrupted", "interrupted"),
        (Finish(FinishReason.ERROR, 1, "Provider Error", "no"), "failed", "failed"),
        (Finish(FinishReason.CONTENT_FILTER, 1), "completed", "refused"),
        (Finish(FinishReason.MAX_TOKENS, 1), "completed", "cut short"),
    ],
)
@pytest.mark.parametrize("is_known", [True, False])
def test_an_ending_that_is_not_as_usual_is_told(finish: Finish, outcome: str, kind: str, is_known: bool) -> None:
    runs = [gallery.ended("r", outcome)] if is_known else []
    items = fold(gallery.view_of([gallery.model("a", Text("So"), finish, run="r")], *runs), gallery.HERE).items
    assert [item.kind.value for item in items if isinstance(item, Ending)] == [kind]


def test_another_session_begins_anew() -> None:
    before = fold(gallery.everything(), gallery.HERE)
    assert fold(before.view, "another", before) == Folded((), "another", before.view)
