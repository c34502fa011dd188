"""What a person allows who says “and from now on” to one command line, and what that allows later, line for line.

As in a session: the line is judged, a rule is kept for each of its parts, the next line is judged under these rules.
"""

import pytest

from turnkeeper.core.granting import grant_for
from turnkeeper.core.permission import Rules
from turnkeeper.core.permission import judge as ruled
from turnkeeper.protocol.requests import Rule, Verdict
from turnkeeper.tools.shell import Ask, judge

HERE = "/home/ada/app"


def parts_of(line: str) -> tuple[str, ...]:
    verdict = judge(line, inside=HERE)
    assert isinstance(verdict, Ask), line
    return verdict.parts


def granted(line: str) -> tuple[Rule, ...]:
    return grant_for(tool="bash", action="execute", subjects=parts_of(line), workdir=HERE)


def verdict_after(first: str, then: str) -> Verdict:
    rules = Rules(session=granted(first))
    return ruled(rules, tool="bash", action="execute", subjects=parts_of(then), workdir=HERE).verdict


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("npm test", "npm test -- -v"),
        ("npm test", "CI=1 npm test"),
        ("make test", "make test"),
        ("git commit -m x", "git commit -m y"),
        ("python3 tool.py 1", "python3 tool.py 2"),
        ("FOO=1 npm test", "FOO=1 npm test"),
        ("cd sub && npm test", "cd sub && npm test"),
        ("bash -c 'make'", "bash -c 'make'"),
        ("git push origin main", "git push origin main"),
    ],
)
def test_the_same_shape_is_not_asked_about_again(first: str, then: str) -> None:
    assert verdict_after(first, then) is Verdict.ALLOW


@pytest.mark.parametrize(
    ("first", "then"),
    [
        # A variable makes a command do something else.
        ("git fetch origin", "GIT_SSH_COMMAND='sh -c evil' git fetch origin"),
        ("npm test", "NODE_OPTIONS='--require ./evil.js' npm test"),
        ("npm test", "PATH=./evil:$PATH npm test"),
        ("npm test", "env NODE_OPTIONS=x npm test"),
        ("npm test", "export NODE_OPTIONS=x; npm test"),
        ("FOO=1 npm test", "FOO=2 npm test"),
        ("export FOO=1; npm test", "export NODE_OPTIONS=x; npm test"),
        ("make", "LD_PRELOAD=./evil.so make"),
        # An option does.
        ("git fetch origin", "git fetch --upload-pack=./evil origin"),
        ("git push origin main", "git push --receive-pack=./evil origin main"),
        ("git config user.name x", "git config core.fsmonitor ./evil"),
        ("git submodule status", "git submodule foreach ./evil"),
        ("git rebase main", "git rebase -x ./evil main"),
        ("make test", "make test --eval='$(shell ./evil)'"),
        ("tar xf a.tar", "tar xf a.tar --to-command=./evil"),
        ("rg --sort path -z x /srv", "rg --pre ./evil x"),
        ("vim -es a", "vim -es -c '!./evil'"),
        ("docker exec c ls", "docker exec c sh -c evil"),
        ("conda run pytest", "conda run ./evil"),
        ("pipenv run pytest", "pipenv run ./evil"),
        # So does another program for the same interpreter, and another directory.
        ("python3.11 a.py", "python3.11 b.py"),
        ("pypy3 a.py", "pypy3 b.py"),
        ("nodejs a.js", "nodejs b.js"),
        ("mawk 1 a", "mawk 'BEGIN { system(\"./evil\") }'"),
        ("cd a && npm test", "cd /tmp && npm test"),
    ],
)
def test_what_was_not_shown_is_asked_about(first: str, then: str) -> None:
    assert verdict_after(first, then) is Verdict.ASK


@pytest.mark.parametrize(
    "line",
    [
        "python3 - <<'EOF'\nprint(1)\nEOF",
        "python3 <<< 'print(1)'",
        "node <<EOF\n1\nEOF",
        "echo code | python3",
        "cat code | sh",
        'for f in a.txt; do rm "$f"; done',
        'x=build; rm -rf "$x"',
        "$X test",
        "echo build | xargs rm -rf",
        "PATH=./bin:$PATH npm test",
    ],
)
def test_what_does_not_stand_in_the_line_s_own_words_can_be_allowed_once_only(line: str) -> None:
    assert granted(line) == ()


@pytest.mark.parametrize("line", ["bash -c 'make'", "sh -c 'npm test'", "eval make", "timeout 5 bash -c 'make -j2'"])
def test_a_shell_in_a_line_is_granted_exactly_and_judged_under_rules_with_subjects(line: str) -> None:
    rules = granted(line)
    assert rules
    others = (Rule(Verdict.ALLOW, "bash", "", "git status:*"), Rule(Verdict.DENY, "bash", "", "rm:*"))
    for kept in (rules, others, (*rules, *others)):
        judged = ruled(Rules(session=kept), tool="bash", action="execute", subjects=parts_of(line), workdir=HERE)
        assert judged.verdict is (Verdict.ALLOW if rules[0] in kept else Verdict.ASK)
