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
