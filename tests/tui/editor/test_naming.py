"""What is being named where the cursor is, and which commands fit. `|` is the cursor."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnkeeper.tui.commands import COMMANDS
from turnkeeper.tui.editor.naming import Kind, Naming, naming, offered


@pytest.mark.parametrize(
    ("scene", "kind", "query"),
    [
        ("@|", Kind.FILE, ""),
        ("@ma|", Kind.FILE, "ma"),
        ("see @src/ma| please", Kind.FILE, "src/ma"),
        ("see (@ma|", Kind.FILE, "ma"),
        ("line\n@x|", Kind.FILE, "x"),
        ("/|", Kind.COMMAND, ""),
        ("/new|", Kind.COMMAND, "new"),
        ("/user:fix-it|", Kind.COMMAND, "user:fix-it"),
    ],
)
def test_a_sign_and_what_follows_it_is_a_name(scene: str, kind: Kind, query: str) -> None:
    found = naming(scene.replace("|", ""), scene.index("|"))
    assert found is not None
    assert (found.kind, found.query, found.ends) == (kind, query, scene.index("|"))


@pytest.mark.parametrize(
    "scene", ["|", "me@home|", "@ma |", "@@|", "/usr/bin|", "/new it|", " /new|", "/ne|w", "a /new|", "text|"]
)
def test_other_texts_name_nothing(scene: str) -> None:
    assert naming(scene.replace("|", ""), scene.index("|")) is None


@given(st.text("@/ab \n", max_size=10), st.integers(0, 10))
def test_what_is_named_is_what_stands_there(text: str, at: int) -> None:
    at = min(at, len(text))
    match naming(text, at):
        case Naming(kind, query, begins, ends):
            assert text[begins:ends] == ("@" if kind is Kind.FILE else "/") + query
            assert ends == at
        case None:
            pass


def test_commands_are_offered_in_their_order_and_the_best_first() -> None:
    assert [offer.name for offer in offered("", COMMANDS)] == [command.name for command in COMMANDS]
    assert [offer.name for offer in offered("re", COMMANDS)][:2] == ["rename", "redo"]
    assert offered("exit", COMMANDS)[0].name == "quit"
    assert offered("exit", COMMANDS)[0].about.endswith("(exit)")
    assert offered("zzz", COMMANDS) == []
