"""No way of writing a denied command makes it allowed, and ordinary work is not taken for one."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tools.test_shell import WORKSPACE
from tests.tools.test_shell_disguises import AROUND, NAME, WRAPS, disguised
from turnkeeper.core.permission import Judgement, Rules
from turnkeeper.core.permission import judge as permitted
from turnkeeper.core.ruletext import parse_rules
from turnkeeper.protocol.requests import Verdict
from turnkeeper.tools.shell import Ask, Banned, judge

DENIED = ["bash(rm:*)", "bash(git push:*)"]
RULES = Rules(config=(*parse_rules(["bash"], Verdict.ALLOW), *parse_rules(DENIED, Verdict.DENY)))
ONLY_GIT = Rules(config=(*parse_rules(["bash(git:*)"], Verdict.ALLOW), *parse_rules(DENIED, Verdict.DENY)))


def corpus(wanted: str) -> list[str]:
    text = (Path(__file__).parent / "denied.txt").read_text("utf-8")
    lines = [line.partition("\t") for line in text.splitlines() if not line.startswith("# ")]
    return [command.replace("⏎", "\n") for verdict, _, command in lines if verdict == wanted]


def judged(line: str, *, approved: bool = False, rules: Rules = RULES) -> Judgement | Banned:
    """As the shell's tool and the workspace's rules judge it together."""
    verdict = judge(line, inside=WORKSPACE)
    if isinstance(verdict, Banned):
        return verdict
    shadows, hides = (verdict.shadows, bool(verdict.hides)) if isinstance(verdict, Ask) else ((), False)
    return permitted(
        rules,
        tool="bash",
        action="execute",
        subjects=verdict.parts,
        workdir=WORKSPACE,
        approved=approved,
        shadows=shadows,
        hides=hides,
    )


def is_let_through(line: str, *, approved: bool, rules: Rules = RULES) -> bool:
    verdict = judged(line, approved=approved, rules=rules)
    return not isinstance(verdict, Banned) and verdict.verdict is Verdict.ALLOW


@pytest.mark.parametrize("command", [*corpus("denied"), *corpus("pushes")])
def test_every_way_of_running_a_denied_command_is_denied_or_shown_to_somebody(command: str) -> None:
    assert not is_let_through(command, approved=False)
    assert not is_let_through(command, approved=True), "where nobody is to be asked"


@pytest.mark.parametrize("command", corpus("pushes"))
def test_a_denied_subcommand_is_not_let_through_where_its_command_is_allowed(command: str) -> None:
    assert not is_let_through(command, approved=False, rules=ONLY_GIT)
    assert not is_let_through(command, approved=True, rules=ONLY_GIT), "where nobody is to be asked"


@pytest.mark.parametrize("command", corpus("allowed"))
def test_work_that_runs_nothing_denied_is_let_through(command: str) -> None:
    assert is_let_through(command, approved=False)


@settings(max_examples=600, deadline=None)
@given(
    st.sampled_from([*corpus("denied"), *corpus("pushes")]),
    st.lists(st.sampled_from(sorted(AROUND)), min_size=1, max_size=3),
    st.booleans(),
)
def test_what_is_denied_stays_so_inside_anything(line: str, around: list[str], approved: bool) -> None:
    whole = disguised(line, around)
    assert not is_let_through(whole, approved=approved), whole


@settings(max_examples=600, deadline=None)
@given(
    st.sampled_from(sorted(NAME)),
    st.lists(st.sampled_from(sorted(WRAPS)), max_size=3),
    st.lists(st.sampled_from(sorted(AROUND)), max_size=2),
)
def test_what_is_denied_stays_so_under_any_name_and_behind_any_wrapper(
    quoting: str, wraps: list[str], around: list[str]
) -> None:
    line = f"{NAME[quoting]('rm')} -rf x"
    if "; " not in line:
        for wrap in wraps:
            line = WRAPS[wrap](line)
    whole = disguised(line, around)
    assert not is_let_through(whole, approved=True), whole


def test_a_person_is_asked_about_what_hides_what_it_runs_and_told_why() -> None:
    found = judged("$(cat name) x")
    assert isinstance(found, Judgement)
    assert (found.verdict, found.hidden, found.rule) == (Verdict.ASK, True, RULES.config[1])
