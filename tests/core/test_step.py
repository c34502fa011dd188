"""A conversation alone says what comes next."""

import msgspec
import pytest

from tests.core.conversations import answer, call, calling, conversation, person, result, results
from turnkeeper.core.step import TURN_OVER, AskModel, Done, Move, UseTools, next_move
from turnkeeper.protocol.messages import FinishReason, Message, ShellCommand

A, B = call("a"), call("b", "bash", '{"command":"ls"}')
SHELL = person(ShellCommand("ls", "a.py", 0))


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ([], Done()),
        ([person("go")], AskModel()),
        ([person("go"), answer("done")], Done()),
        ([person("go"), calling(A)], UseTools((A,))),
        ([person("go"), calling(A, B)], UseTools((A, B))),
        ([person("go"), calling(A, B), results(result("a"))], UseTools((B,))),
        ([person("go"), calling(A, B), results(result("b")), results(result("a"))], AskModel()),
        ([person("go"), calling(A), results(result("a")), answer("done")], Done()),
        ([person("go"), calling(A), results(result("a")), calling(B)], UseTools((B,))),
        ([person("go"), answer("done"), person("more")], AskModel()),
        ([person("go"), calling(A), person("wait"), results(result("a"))], AskModel()),
        ([person("go"), calling(A), results(result("a")), person("and also")], AskModel()),
        ([person("go"), calling(A), person("wait")], UseTools((A,))),
    ],
)
def test_the_end_of_the_conversation_decides(said: list[Message], expected: Move) -> None:
    assert next_move(conversation(*said)) == expected


@pytest.mark.parametrize("reason", sorted(TURN_OVER))
def test_a_turn_that_is_over_leaves_nobody_waiting_whatever_it_called(reason: FinishReason) -> None:
    over = [person("go"), calling("so", A, finish=reason)]
    assert next_move(conversation(*over)) == Done()
    assert next_move(conversation(*over, results(result("a")))) == Done()
    assert next_move(conversation(*over, person("more"))) == AskModel()


def test_a_tool_that_ends_the_turn_keeps_its_result_from_the_model() -> None:
    stopped = calling(A, finish=FinishReason.END_TURN)
    denied = results(result("a", "User denied permission", is_error=True))
    assert next_move(conversation(person("go"), stopped, denied)) == Done()


def test_a_call_that_was_not_received_whole_is_not_made() -> None:
    cut = calling(A, call("b", finished=False), finish=None)
    assert next_move(conversation(person("go"), cut)) == UseTools((A,))
    assert next_move(conversation(person("go"), cut, results(result("a")))) == AskModel()


def test_a_call_the_provider_made_itself_is_not_made_again() -> None:
    searched = msgspec.structs.replace(A, provider_executed=True)
    assert next_move(conversation(person("go"), calling(searched, B))) == UseTools((B,))


def test_an_answer_cut_before_its_end_is_asked_for_again() -> None:
    assert next_move(conversation(person("go"), answer("Let me", finish=None))) == AskModel()
    assert next_move(conversation(person("go"), answer(finish=None))) == AskModel()


@pytest.mark.parametrize("reason", [FinishReason.UNKNOWN, FinishReason.STOP, FinishReason.TOOL_USE])
def test_an_answer_without_calls_is_the_last_whatever_it_says_of_itself(reason: FinishReason) -> None:
    assert next_move(conversation(person("go"), answer("done", finish=reason))) == Done()


def test_a_shell_command_beside_the_conversation_asks_for_nothing() -> None:
    assert next_move(conversation(SHELL)) == Done()
    assert next_move(conversation(person("go"), answer("done"), SHELL)) == Done()
    assert next_move(conversation(person("go"), calling(A), SHELL)) == UseTools((A,))
    assert next_move(conversation(person("go"), answer("done", finish=FinishReason.TOOL_USE), SHELL)) == Done()


def test_a_summary_is_beside_the_conversation() -> None:
    summary = answer("so far", is_summary=True)
    assert next_move(conversation(person("go"), calling(A), results(result("a")), summary)) == AskModel()
    assert next_move(conversation(person("go"), answer("done"), summary)) == Done()


def test_going_on_step_by_step_ends() -> None:
    said = [person("go")]
    moves: list[Move] = []
    replies = [calling(A), answer("done")]
    while not isinstance(move := next_move(conversation(*said)), Done):
        moves.append(move)
        said.append(replies.pop(0) if isinstance(move, AskModel) else results(result("a")))
    assert moves == [AskModel(), UseTools((A,)), AskModel()]
