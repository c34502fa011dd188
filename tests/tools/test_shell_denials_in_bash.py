"""What a real bash makes of lines that are let through although something is denied: nothing that is denied."""

import os
import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.tools.test_shell_denials import is_let_through
from tests.tools.test_shell_disguises import fate
from turnkeeper.core.permission import Rules
from turnkeeper.core.ruletext import parse_rules
from turnkeeper.protocol.requests import Verdict

DENIED = ["bash(evil:*)", "bash(tool push:*)"]
RULES = Rules(config=(*parse_rules(["bash"], Verdict.ALLOW), *parse_rules(DENIED, Verdict.DENY)))
MARKS = '#!/bin/sh\n: > "$MARK"\n'
STUBS = {"evil": MARKS, "tool": f'{MARKS.splitlines()[0]}\n[ "$1" != push ] || : > "$MARK"\n', "ls": "#!/bin/true\n"}
REAL = (
    "/usr/bin/env",
    "/usr/bin/find",
    "/usr/bin/nice",
    "/usr/bin/nohup",
    "/usr/bin/timeout",
    "/usr/bin/xargs",
    "/bin/sh",
)
FRAGMENTS = """
ls ¦ x ¦ -x ¦ -- ¦ - ¦ = ¦ ! ¦ \\ ¦ \\⏎ ¦ evil ¦ ev ¦ il ¦ tool ¦ tool ¦ push ¦ pu ¦ sh ¦ X=ev ¦ X=evil ¦ X=ls
X=push ¦ X= ¦ X+=il ¦ Y=X ¦ _= ¦ A=(evil a) ¦ ${A[0]} ¦ "${A[@]}" ¦ declare -l ¦ declare -n Y=X ¦ local ¦ export
$X ¦ $X ¦ ${X} ¦ "$X" ¦ ${X}il ¦ ${X}sh ¦ ev${X} ¦ ${!X} ¦ ${X:-evil} ¦ ${X:=ev} ¦ $Y ¦ read X <<< ¦ read <<< ev
${REPLY}il ¦ printf -v X ¦ unset X ¦ for X in ¦ ; do ¦ ; done ¦ if ¦ then ¦ fi ¦ ; ¦ ; ¦ ; ¦ && ¦ || ¦ ⏎ ¦ | ¦ ( ¦ )
{ ¦ ; } ¦ $( ¦ $(echo ¦ `echo ¦ ` ¦ `` ¦ `true` ¦ env ¦ env A=1 ¦ nohup ¦ nice ¦ timeout 5 ¦ command ¦ builtin
exec ¦ time ¦ xargs ¦ eval ¦ sh -c ¦ bash ¦ | xargs ¦ | sh ¦ find . -maxdepth 0 ¦ -exec ¦ {} ; ¦ \\; ¦ {} + ¦ echo
echo evil | ¦ echo push | ¦ {evil,a} ¦ {,evil} ¦ {push,a} ¦ ev{il,} ¦ set -- evil a ¦ set -- push ¦ "$@" ¦ $1 ¦ e?il
pus[h] ¦ ' ¦ " ¦ $'\\x65vil' ¦ e\\vil ¦ "ev"il ¦ <<< ¦ . /dev/stdin <<< ¦ cat <<EOF⏎ ¦ ⏎EOF⏎
"""
PIECES = [piece.strip().replace("⏎", "\n") for line in FRAGMENTS.strip().splitlines() for piece in line.split("¦")]


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of commands: what is denied, of which each says so, and some that run others."""
    folder = tmp_path_factory.mktemp("commands")
    for name, text in STUBS.items():
        (folder / name).write_text(text)
        (folder / name).chmod((folder / name).stat().st_mode | stat.S_IXUSR)
    for path in REAL:
        (folder / Path(path).name).symlink_to(path)
    return folder


@settings(
    max_examples=int(os.environ.get("SHELL_EXAMPLES", "800")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=10), st.booleans())
def test_whatever_is_let_through_runs_nothing_denied_in_a_real_bash(
    commands: Path, tmp_path_factory: pytest.TempPathFactory, pieces: list[str], spaced: bool
) -> None:
    line = (" " if spaced else "").join(pieces)
    if is_let_through(line, approved=False, rules=RULES):
        assert "mark" not in fate(line, commands, tmp_path_factory.getbasetemp()), line


@pytest.mark.parametrize("line", ["evil", "tool push", "env evil", "echo push | xargs tool"])
def test_the_real_bash_would_notice_what_is_denied(commands: Path, tmp_path: Path, line: str) -> None:
    assert fate(line, commands, tmp_path) == ["mark"]
    assert not is_let_through(line, approved=False, rules=RULES)
