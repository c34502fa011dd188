"""What a run prints: the answer once and whole, whatever came before it, and nothing in its way."""

import io
from collections.abc import Sequence

import pytest

from turnkeeper.cli.ending import Ending
from turnkeeper.cli.printing import TextPrinter
from turnkeeper.cli.progress import Progress, Wanted
from turnkeeper.client.news import Again, Began, Called, More, News
from turnkeeper.protocol.ids import MessageId, SessionId, ToolCallId
from turnkeeper.protocol.messages import Message, Role, ToolCall


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


CALL = Called("a", ToolCall(ToolCallId("c"), "ls", '{"path": "."}'))


def printed(news: Sequence[News], text: str, *, live: bool = True, message_id: str = "a") -> str:
    out = io.StringIO()
    printer = TextPrinter(out, live=live)
    for one in news:
        printer.tell(one)
    printer.ended(Ending("r", "s", "completed", 0, text=text, message_id=message_id))
    return out.getvalue()


@pytest.mark.parametrize("shown", ["", "The", "The answer", "The answer."])
def test_only_what_is_missing_of_the_answer_is_printed_at_its_end(shown: str) -> None:
    assert printed([More("a", shown)] if shown else [], "The answer.") == "The answer.\n"


@pytest.mark.parametrize("pieces", [[" \t", " The answer."], [" \t The", " answer."], [], [" "]])
def test_leading_blanks_are_trimmed_once_whether_they_came_early_or_late(pieces: list[str]) -> None:
    assert printed([More("a", piece) for piece in pieces], " \t The answer.") == "The answer.\n"
    assert printed([], "    indented\n    code", live=False) == "indented\n    code\n"


def test_words_that_were_not_the_answer_stay_on_their_own_lines() -> None:
    assert printed([More("a", "Let me look."), CALL, More("b", "Do")], "Done.", message_id="b") == (
        "Let me look.\nDone.\n"
    )
    assert printed([More("a", "Wrong"), Again("a"), More("a", "Ri")], "Right.") == "Wrong\nRight.\n"
    assert printed([More("a", "Something else")], "The answer.") == "Something else\nThe answer.\n"


def test_in_a_pipe_there_is_the_answer_and_nothing_else() -> None:
    news = [More("a", "Let me look."), CALL, More("b", "Do")]
    assert printed(news, "Done.", live=False, message_id="b") == "Done.\n"
    assert printed([], "", live=False) == ""


def test_the_spinner_is_gone_before_anything_is_printed() -> None:
    screen = Terminal()
    progress = Progress(TextPrinter(screen, live=True), screen, wanted=Wanted())
    progress.draw("⠋")
    assert "waiting" in screen.getvalue()
    progress.tell(Began(Message(MessageId("a"), SessionId("s"), Role.ASSISTANT)))
    progress.tell(More("a", "The answer."))
    assert screen.getvalue().endswith("\r\x1b[KThe answer.")


def test_the_spinner_stays_on_one_line_however_narrow_the_terminal_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "24")
    screen = Terminal()
    progress = Progress(TextPrinter(screen, live=True), screen, wanted=Wanted())
    progress.tell(Called("a", ToolCall(ToolCallId("c"), "bash", '{"command": "make all the tests pass"}')))
    progress.draw("⠋")
    line = screen.getvalue().rpartition("\x1b[K")[2]
    assert (len(line) < 24, line.startswith("⠋ bash make"), line.endswith(" 0 s")) == (True, True, True)


def test_what_a_terminal_would_obey_is_not_passed_on_to_one() -> None:
    assert printed([More("a", "red \x1b[31malert\x07")], "red \x1b[31malert\x07") == "red alert\n"
