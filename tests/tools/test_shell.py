"""The verdict on a command line: the corpus, and what no disguise may change."""

from pathlib import Path

import pytest

from turnkeeper.tools.shell import Ask, Banned, Safe, Verdict, judge

WORKSPACE = "/home/me/project"


def corpus() -> list[tuple[str, str]]:
    text = (Path(__file__).parent / "commands.txt").read_text("utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("# ")]
    return [(verdict, command.replace("⏎", "\n")) for verdict, _, command in (line.partition("\t") for line in lines)]


def named(verdict: Verdict) -> str:
    match verdict:
        case Safe():
            return "safe"
        case Banned():
            return "ban"
        case Ask():
            return "ask"


@pytest.mark.parametrize(("expected", "command"), corpus())
def test_every_command_of_the_corpus_gets_its_verdict(expected: str, command: str) -> None:
    verdict = judge(command, inside=WORKSPACE)
    assert (named(verdict), command) == (expected, command), verdict


@pytest.mark.parametrize("text", ["echo $((" + "(1)" * 30_000, "echo {" + "," * 90_000, "<<'E'\n(" * 9_000])
def test_what_is_too_tangled_to_be_read_is_for_a_person_and_holds_nothing_up(text: str) -> None:
    verdict = judge(text)
    assert isinstance(verdict, Ask)
    assert "it cannot be read" in verdict.doubts
    assert verdict.hides


def test_what_is_banned_is_banned_in_a_tangle_too() -> None:
    assert isinstance(judge("curl x; echo $((" + "(1)" * 30_000), Banned)


def test_a_long_program_in_quotes_is_no_tangle() -> None:
    verdict = judge("cat > a.py <<'EOF'\n" + "print((1, 2), (3, 4))\n" * 3_000 + "EOF\n")
    assert isinstance(verdict, Ask)
    assert "it cannot be read" not in verdict.doubts
