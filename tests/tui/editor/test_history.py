"""Going back through what was said, and coming home to the draft."""

from hypothesis import given
from hypothesis import strategies as st

from turnkeeper.protocol.ids import MessageId, SessionId
from turnkeeper.protocol.messages import Message, Role, ShellCommand, Text
from turnkeeper.tui.editor.history import ENTRIES_MAX, Browsing, commands, distinct, prompts


def test_one_goes_back_to_the_first_and_home_to_the_draft() -> None:
    browsing = Browsing(("third", "second"))
    texts = ["my draft"]
    while older := browsing.older(texts[-1]):
        browsing = older
        texts.append(browsing.text)
    assert texts == ["my draft", "third", "second"]
    while newer := browsing.newer(texts[-1]):
        browsing = newer
        texts.append(browsing.text)
    assert texts == ["my draft", "third", "second", "third", "my draft"]


def test_what_was_changed_on_the_way_is_there_again() -> None:
    at_third = Browsing(("third", "second")).older("draft")
    assert at_third
    at_second = at_third.older("third, better")
    assert at_second
    again = at_second.newer("second")
    assert again
    assert again.text == "third, better"
    home = again.newer(again.text)
    assert home
    assert home.text == "draft"


def test_what_is_sent_is_the_latest_and_stands_once() -> None:
    browsing = Browsing(("b", "a")).older("")
    assert browsing
    assert browsing.added("a") == Browsing(("a", "b"))


def test_what_is_learnt_of_earlier_comes_behind_what_was_sent_and_moves_nothing_under_ones_hands() -> None:
    assert Browsing(("new",)).with_entries(("old", "new")) == Browsing(("new", "old"))
    browsing = Browsing(("new",)).older("")
    assert browsing
    assert browsing.with_entries(("old",)) is browsing


@given(st.lists(st.text("ab \n", max_size=3)))
def test_a_history_has_nothing_blank_and_nothing_twice(texts: list[str]) -> None:
    kept = distinct(texts)
    assert len(set(kept)) == len(kept)
    assert all(text.strip() for text in kept)
    assert {text for text in texts if text.strip()} == set(kept)


def test_a_history_is_bounded() -> None:
    assert len(distinct(map(str, range(2 * ENTRIES_MAX)))) == ENTRIES_MAX


def test_prompts_and_shell_commands_have_histories_of_their_own() -> None:
    def said(*parts: Text | ShellCommand) -> Message:
        return Message(MessageId("m"), SessionId("s"), Role.USER, parts)

    messages = [said(Text("do it")), said(ShellCommand("ls", "a\nb", 0)), said(Text("and this"))]
    assert prompts(messages) == ("do it", "and this")
    assert commands(messages) == ("ls",)
