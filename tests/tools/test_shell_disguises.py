"""No disguise makes a banned command pass, or a command that somebody should see run unasked."""

import os
import shlex
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.tools.test_shell import WORKSPACE, corpus
from turnkeeper.tools.shell import Ask, Banned, Safe, judge
from turnkeeper.tools.shell_safe import ALWAYS, LOOKS, SHOWING, SPECIAL, SPECIAL_INSIDE

Disguise = Callable[[str], str]

WRAPS: dict[str, Disguise] = {
    "env": lambda line: f"env A=1 {line}",
    "nohup": lambda line: f"nohup {line}",
    "timeout": lambda line: f"timeout -k 1 5 {line}",
    "nice": lambda line: f"nice -n 3 {line}",
    "time": lambda line: f"time {line}",
    "exec": lambda line: f"exec {line}",
    "command": lambda line: f"command {line}",
    "xargs": lambda line: f"echo a | xargs {line}",
    "stdbuf": lambda line: f"stdbuf -oL {line}",
    "find": lambda line: f"find . -exec {line} \\;",
}
AROUND: dict[str, Disguise] = {
    "sh": lambda line: f"sh -c {shlex.quote(line)}",
    "bash": lambda line: f"/bin/bash -c {shlex.quote(line)}",
    "eval": lambda line: f"eval {shlex.quote(line)}",
    "subshell": lambda line: f"({line}\n)",
    "group": lambda line: f"{{ {line}\n}}",
    "substitution": lambda line: f"echo $({line}\n)",
    "quoted substitution": lambda line: f'echo "$({line}\n)"',
    "process substitution": lambda line: f"diff a <({line}\n)",
    "redirect": lambda line: f"{{ {line}\n}} > out 2>&1",
    "before": lambda line: f"{line}\nls",
    "after a line": lambda line: f"ls\n{line}",
    "after a comment": lambda line: f"ls # nothing\n{line}",
    "after a semicolon": lambda line: f"ls; {line}",
    "after an ampersand": lambda line: f"ls & {line}",
    "after and": lambda line: f"ls && {line}",
    "after or": lambda line: f"ls || {line}",
    "pipe": lambda line: f"ls | {{ {line}\n}}",
    "negated": lambda line: f"! {{ {line}\n}}",
    "condition": lambda line: f"if {line}\nthen ls; fi",
    "loop": lambda line: f"for i in 1 2; do {line}\ndone",
    "while": lambda line: f"while {line}\ndo ls; done",
    "function": lambda line: f"f() {{ {line}\n}}; f",
    "case": lambda line: f"case a in a) {line}\n;; esac",
    "here-document": lambda line: f"bash <<'END{len(line)}'\n{line}\nEND{len(line)}\n",
    "background": lambda line: f"{{ {line}\n}} &",
    "spaces": lambda line: f"  \t {line}  ",
}
NAME: dict[str, Disguise] = {
    "single quotes": lambda name: f"'{name}'",
    "double quotes": lambda name: f'"{name}"',
    "split": lambda name: f"{name[0]}''{name[1:]}",
    "backslash": lambda name: f"\\{name}",
    "continued": lambda name: f"{name[0]}\\\n{name[1:]}",
    "ansi": lambda name: "$'" + "".join(f"\\x{ord(letter):02x}" for letter in name) + "'",
    "path": lambda name: f"/usr/bin/{name}",
    "variable": lambda name: f"x={name}; $x",
    "pieces": lambda name: f"x={name[:1]}; ${{x}}{name[1:]}",
}
SIMPLE_BANNED = st.sampled_from(["curl", "wget", "sudo", "ssh", "apt-get", "systemctl", "nc", "mount"])


def disguised(line: str, around: list[str]) -> str:
    for name in around:
        line = AROUND[name](line)
    return line


@settings(max_examples=500, deadline=None)
@given(
    SIMPLE_BANNED,
    st.lists(st.sampled_from(sorted(WRAPS)), max_size=3),
    st.lists(st.sampled_from(sorted(AROUND)), max_size=3),
)
def test_a_banned_command_stays_banned_behind_wrappers_and_inside_anything(
    name: str, wraps: list[str], around: list[str]
) -> None:
    line = f"{name} x"
    for wrap in wraps:
        line = WRAPS[wrap](line)
    line = disguised(line, around)
    assert isinstance(judge(line, inside=WORKSPACE), Banned), line


@settings(max_examples=500, deadline=None)
@given(SIMPLE_BANNED, st.sampled_from(sorted(NAME)), st.lists(st.sampled_from(sorted(AROUND)), max_size=2))
def test_a_banned_name_stays_banned_however_it_is_quoted(name: str, quoting: str, around: list[str]) -> None:
    line = disguised(f"{NAME[quoting](name)} x", around)
    assert isinstance(judge(line, inside=WORKSPACE), Banned), line


def for_somebody_to_see() -> list[str]:
    """Lines that are whole: what is no command line by itself may be one inside another, and a harmless one."""
    judged = [judge(command, inside=WORKSPACE) for _, command in corpus()]
    return [
        command
        for (expected, command), verdict in zip(corpus(), judged, strict=True)
        if expected != "safe" and not (isinstance(verdict, Ask) and "it cannot be read" in verdict.doubts)
        if command not in ("", "#")
    ]


@settings(max_examples=600, deadline=None)
@given(
    st.sampled_from(for_somebody_to_see()),
    st.lists(st.sampled_from(sorted(AROUND)), min_size=1, max_size=3),
)
def test_nothing_that_somebody_should_see_becomes_safe_inside_something_else(line: str, around: list[str]) -> None:
    whole = disguised(line, around)
    assert not isinstance(judge(whole, inside=WORKSPACE), Safe), whole


FRAGMENTS = [
    *("ls", "echo", "cat", "find", "a", "b", "-la", "-delete", "-exec", "x=1", "x=ls", "$x", '"$x"', "${x}", "$(", ")"),
    *("`", "(", "{", "}", ";", "&", "&&", "||", "|", "\n", " ", "  ", "\t", "'", '"', "\\", "\\\n", "#", "$'", "\\x72"),
    *(">", "<", ">>", "<<", "<<<", "&>", ">&", "2>", "1", "EVIL", "evil", "ev", "il", "if", "then", "fi", "for", "in"),
    *(
        "do",
        "done",
        "case",
        "esac",
        "!",
        "[",
        "]",
        "[[",
        "]]",
        "=",
        "*",
        "?",
        "{a,b}",
        "$((",
        "))",
        "1+1",
        "time",
        "env",
    ),
    *(
        "sh -c",
        "eval",
        "command",
        "xargs",
        "timeout 1",
        "nohup",
        "EOF",
        "cat <<EOF\n",
        "\nEOF\n",
        "~",
        "\r",
        "\v",
        "\xa0",
    ),
    *(
        "function",
        "()",
        "-",
        "--",
        "/dev/null",
        ",",
        "..",
        ":",
        "@",
        "%",
        "^",
        "$",
        "evil()",
        "echo evil",
        "\\;",
        "\\`",
        "\\$'",
        "$$'",
        "\\ ",
        "]#",
        "' '",
        "#'",
        "ls evil",
        "\x0c",
    ),
]


@pytest.fixture(scope="module")
def stubs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of commands of which only those that look exist, and one that is evil and says so."""
    folder = tmp_path_factory.mktemp("stubs")
    looks = {*LOOKS, *ALWAYS, *SHOWING, *SPECIAL, *SPECIAL_INSIDE, "git"} - {":", "[", "[["}
    for name in looks:
        (folder / name).write_text("#!/bin/true\n")
    (folder / "evil").write_text('#!/bin/sh\n: > "$MARK"\n')
    for wrapper in ("env", "xargs", "timeout", "nohup"):
        (folder / wrapper).symlink_to(f"/usr/bin/{wrapper}")
    (folder / "sh").symlink_to("/bin/sh")
    for path in folder.iterdir():
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return folder


def fate(line: str, stubs: Path, scene: Path) -> list[str]:
    """What bash made of a line: the evil it ran, and the files it left."""
    mark = scene / "mark"
    work = scene / "work"
    work.mkdir(exist_ok=True)
    subprocess.run(
        ["/bin/bash", "-c", line],
        cwd=work,
        env={"PATH": str(stubs), "MARK": str(mark), "HOME": str(work)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=20,
        check=False,
    )
    found = [path.name for path in (*scene.glob("mark"), *work.iterdir())]
    for path in (*scene.glob("mark"), *work.iterdir()):
        path.unlink()
    return found


@settings(
    max_examples=int(os.environ.get("SHELL_EXAMPLES", "1500")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=10), st.booleans())
def test_whatever_is_called_safe_does_nothing_else_in_a_real_bash(
    stubs: Path, tmp_path_factory: pytest.TempPathFactory, fragments: list[str], spaced: bool
) -> None:
    line = (" " if spaced else "").join(fragments)
    if isinstance(judge(line, inside=WORKSPACE), Safe):
        assert fate(line, stubs, tmp_path_factory.getbasetemp()) == [], line


def test_the_real_bash_would_notice_evil_and_files(stubs: Path, tmp_path: Path) -> None:
    assert fate("evil; echo > b", stubs, tmp_path) == ["mark", "b"]
    assert not isinstance(judge("evil; echo > b"), Safe)
