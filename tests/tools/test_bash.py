"""One command line after another, as a model would give them, run by a real shell."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from tests.tools.scene import deeds, metadata, tree, use
from tests.tools.shell_scene import SECONDS, Watching, alive, environment, pids
from turnkeeper.testing.hands import deny, only_safe
from turnkeeper.tools.bash import Waits, bash_tool
from turnkeeper.tools.jobs import JobTable
from turnkeeper.tools.shell import Banned, judge
from turnkeeper.tools.shell_bans import STANDARD
from turnkeeper.tools.shell_env import agent_env
from turnkeeper.tools.shell_hints import editor_in
from turnkeeper.tools.tool import Answer

WAITS = Waits(settle_seconds=0.01, left_seconds=0.5, show_seconds=0.001)


@pytest.fixture
async def jobs() -> AsyncIterator[JobTable]:
    async with JobTable() as table:
        yield table


@pytest.fixture
def hands(tmp_path: Path) -> Watching:
    return Watching(tmp_path, data_dir=tmp_path / "data", env=environment())


async def bash(jobs: JobTable, hands: Watching, command: str, **given: object) -> Answer:
    with anyio.fail_after(SECONDS):
        return await use(bash_tool(jobs, waits=WAITS), hands, command=command, description="a test", **given)


async def test_output_and_errors_come_in_the_order_they_were_written(jobs: JobTable, hands: Watching) -> None:
    answer = await bash(jobs, hands, "echo one; echo two >&2; echo three")
    assert answer.content == f"one\ntwo\nthree\n\n<cwd>{hands.workdir}</cwd>"
    assert not answer.is_error


async def test_a_failing_command_is_an_answer_with_its_exit_code(jobs: JobTable, hands: Watching) -> None:
    answer = await bash(jobs, hands, "echo oh; exit 3")
    assert answer.content == f"oh\nExit code 3\n\n<cwd>{hands.workdir}</cwd>"
    assert not answer.is_error


async def test_a_command_killed_by_a_signal_says_which(jobs: JobTable, hands: Watching) -> None:
    answer = await bash(jobs, hands, "kill -SEGV $$")
    assert "Exit code 139 (killed by SIGSEGV)" in answer.content


async def test_a_command_that_says_nothing_answers_no_output(jobs: JobTable, hands: Watching) -> None:
    assert (await bash(jobs, hands, "true")).content == "no output"


async def test_a_command_that_is_not_there_has_exit_code_127(jobs: JobTable, hands: Watching) -> None:
    assert "Exit code 127" in (await bash(jobs, hands, "no-such-command-anywhere")).content


async def test_what_cannot_be_parsed_is_an_answer_too(jobs: JobTable, hands: Watching) -> None:
    answer = await bash(jobs, hands, "echo 'unfinished")
    assert "unexpected EOF" in answer.content
    assert "Exit code 2" in answer.content


async def test_the_metadata_tells_times_place_and_output(jobs: JobTable, hands: Watching) -> None:
    told = metadata(await bash(jobs, hands, "echo hi"))
    assert told.pop("end_time") >= told.pop("start_time") > 0
    assert told == {"output": "hi\n", "description": "a test", "working_directory": str(hands.workdir)}


async def test_nothing_is_remembered_between_commands(jobs: JobTable, hands: Watching) -> None:
    await bash(jobs, hands, "mkdir sub; cd sub; export KEPT=1")
    answer = await bash(jobs, hands, "pwd; echo [$KEPT]")
    assert answer.content.startswith(f"{hands.workdir}\n[]\n")


async def test_a_command_runs_where_it_is_told(jobs: JobTable, hands: Watching) -> None:
    (hands.workdir / "sub").mkdir()
    answer = await bash(jobs, hands, "pwd", working_dir="sub")
    assert answer.content == f"{hands.workdir}/sub\n\n<cwd>{hands.workdir}/sub</cwd>"


async def test_a_place_that_is_not_there_is_refused_before_anybody_is_asked(jobs: JobTable, hands: Watching) -> None:
    answer = await bash(jobs, hands, "pwd", working_dir="nowhere")
    assert answer.is_error
    assert hands.deeds == []


async def test_an_empty_command_is_refused(jobs: JobTable, hands: Watching) -> None:
    assert (await bash(jobs, hands, " ")).content == "the command is empty"


async def test_a_command_too_long_for_the_system_is_refused_with_advice(jobs: JobTable, hands: Watching) -> None:
    answer = await bash(jobs, hands, "echo " + "x" * 200_000)
    assert answer.is_error
    assert "put it into a file" in answer.content


async def test_commands_run_in_the_clients_environment_with_nobody_at_the_keyboard(
    jobs: JobTable, hands: Watching
) -> None:
    hands.env = {**environment(), "MINE": "client", "HERDR_ENV": "x", "EDITOR": "vi", "EDITORS": "kept"}
    wanted = "MINE HERDR_ENV EDITOR EDITORS GIT_EDITOR PAGER GIT_PAGER GIT_TERMINAL_PROMPT TERM TURNKEEPER CRUSH"
    answer = await bash(jobs, hands, f"for name in {wanted}; do echo $name=${{!name}}; done; cat")
    assert answer.content.splitlines()[:11] == [
        "MINE=client",
        "HERDR_ENV=",
        "EDITOR=false",
        "EDITORS=kept",
        "GIT_EDITOR=false",
        "PAGER=cat",
        "GIT_PAGER=cat",
        "GIT_TERMINAL_PROMPT=0",
        "TERM=dumb",
        "TURNKEEPER=1",
        "CRUSH=1",
    ]


async def test_a_command_that_wants_a_terminal_fails_at_once_with_a_hint(jobs: JobTable, hands: Watching) -> None:
    answer = await bash(jobs, hands, "python3 -c 'input()'; cat < /dev/tty")
    assert "EOFError" in answer.content
    assert "Hint: The command wanted input from a terminal" in answer.content


async def test_git_opens_no_editor_and_says_what_to_do_instead(jobs: JobTable, hands: Watching) -> None:
    identity = "git -c user.name=a -c user.email=a@b"
    answer = await bash(jobs, hands, f"git init -q . && {identity} commit --allow-empty", timeout=SECONDS)
    assert "Hint: An editor was to be opened" in answer.content


async def test_a_banned_command_is_refused_by_name_and_nothing_is_begun(jobs: JobTable, hands: Watching) -> None:
    answer = await bash(jobs, hands, "ls && nohup sh -c 'curl x'", run_in_background=True)
    assert answer.is_error
    assert "curl" in answer.content
    assert hands.deeds == []


async def test_what_is_banned_can_be_set(jobs: JobTable, hands: Watching) -> None:
    tool = bash_tool(jobs, bans=STANDARD.without("ip"), waits=WAITS)
    assert "iptables" in tool.description
    assert " ip," not in tool.description
    answer = await use(tool, hands, command="ip() { echo mine; }; ip", description="")
    assert answer.content.startswith("mine")


async def test_a_command_that_looks_asks_nobody_and_one_that_does_more_asks_with_its_parts(
    jobs: JobTable, hands: Watching
) -> None:
    hands.judge = only_safe
    assert not (await bash(jobs, hands, "ls | head -3")).is_error
    refused = await bash(jobs, hands, "ls && touch made > log")
    assert refused.is_error
    assert not (hands.workdir / "made").exists()
    first, second = hands.asked
    assert (first.safe, first.subject, first.action) == (True, "ls | head -3", "execute")
    assert (second.safe, second.subjects) == (False, ("> log", "ls", "touch made"))
    assert second.path == str(hands.workdir)


async def test_a_persons_no_ends_the_turn_and_nothing_was_begun(jobs: JobTable, hands: Watching) -> None:
    hands.judge = deny
    answer = await bash(jobs, hands, "touch made")
    assert (answer.is_error, answer.stop_turn) == (True, True)
    assert deeds(hands) == ["permit"]


async def test_looking_elsewhere_is_asked_about(jobs: JobTable, hands: Watching, tmp_path: Path) -> None:
    hands.workdir = tmp_path / "workspace"
    hands.workdir.mkdir()
    hands.judge = only_safe
    assert (await bash(jobs, hands, "cat README", working_dir="..")).is_error


async def test_the_intent_is_noted_before_the_command_starts(jobs: JobTable, hands: Watching) -> None:
    await bash(jobs, hands, "touch made")
    assert deeds(hands) == ["permit", "begin"]


async def test_long_output_is_cut_in_the_middle_and_whole_in_a_file(jobs: JobTable, hands: Watching) -> None:
    answer = await bash(jobs, hands, "seq 1 100000")
    assert answer.content.startswith("1\n2\n3\n")
    assert "lines truncated" in answer.content
    assert "\n99999\n100000\n" in answer.content
    assert len(answer.content) < 31_000
    file = hands.data_dir / "output" / "call-1.log"
    assert f"The whole output (588895 bytes) is in {file}" in answer.content
    assert file.read_text() == "".join(f"{number}\n" for number in range(1, 100_001))


async def test_output_without_end_is_bounded_and_the_command_can_be_stopped(jobs: JobTable, hands: Watching) -> None:
    answer = await bash(jobs, hands, "yes | head -c 80000000; echo end")
    assert "The beginning of the output (80000004 bytes)" in answer.content
    assert "\nend\n" in answer.content
    assert (hands.data_dir / "output" / "call-1.log").stat().st_size == 67_108_864


async def test_output_is_shown_while_the_command_runs(jobs: JobTable, hands: Watching) -> None:
    async with anyio.create_task_group() as calls:
        calls.start_soon(bash, jobs, hands, "mkfifo go; echo first; cat go; echo last")
        await hands.shows("first")
        (hands.workdir / "go").write_text("second\n")
    assert hands.shown[0].startswith("first")


async def test_a_command_that_takes_long_goes_on_in_the_background(jobs: JobTable, hands: Watching) -> None:
    answer = await bash(jobs, hands, "echo begun; sleep 1000", auto_background_after=1)
    assert answer.content.startswith("begun\nThe command still runs; it was moved to the background as job 001.")
    told = metadata(answer)
    assert (told["background"], told["shell_id"]) == (True, "001")
    assert [view.state for view in jobs.list(hands.session_id)] == ["running"]


async def test_a_command_for_the_background_answers_at_once(jobs: JobTable, hands: Watching) -> None:
    answer = await bash(jobs, hands, "sleep 1000", run_in_background=True)
    assert answer.content.startswith("The command runs as background job 001.")


async def test_a_command_for_the_background_that_fails_at_once_says_so(jobs: JobTable, hands: Watching) -> None:
    tool = bash_tool(jobs, waits=Waits(settle_seconds=SECONDS))
    answer = await use(tool, hands, command="echo no; exit 9", description="", run_in_background=True)
    assert answer.content.startswith("no\nExit code 9")
    assert jobs.list(hands.session_id) == []


async def test_what_a_command_leaves_running_becomes_a_job_that_is_named(jobs: JobTable, hands: Watching) -> None:
    answer = await bash(jobs, hands, "sleep 1000 & echo pid=$!; until ps -o comm= -p $! | grep -q sleep; do :; done")
    (pid,) = pids(answer.content)
    assert f"what it started still runs as background job 001: sleep ({pid})" in answer.content
    job = jobs.get(hands.session_id, "001")
    await jobs.kill(job)
    assert alive([pid]) == []


async def test_a_timeout_stops_the_command_and_names_what_was_stopped(jobs: JobTable, hands: Watching) -> None:
    answer = await bash(jobs, hands, "sleep 1000 & echo pid=$!; wait", timeout=1)
    assert "The command was stopped after 1 seconds" in answer.content
    (pid,) = pids(answer.content)
    assert f"sleep ({pid})" in answer.content
    assert alive([pid]) == []


async def test_a_cancel_ends_when_nothing_of_the_command_is_left(jobs: JobTable, hands: Watching) -> None:
    command = (
        "sleep 1000 & echo pid=$!; "
        "setsid sleep 1001 & echo pid=$!; "
        "(setsid sh -c 'trap \"\" TERM; echo pid=$$; exec sleep 1002' &); "
        "wait"
    )
    started: list[int] = []
    async with anyio.create_task_group() as calls:
        calls.start_soon(bash, jobs, hands, command)
        started = pids(await hands.shows(r"(?s)(pid=\d+\s.*){3}"))
        assert len(alive(started)) == 3
        calls.cancel_scope.cancel()
    assert alive(started) == []
    assert "[stopped: " in hands.shown[-1]
    assert jobs.list(hands.session_id) == []


async def test_a_cancel_ends_a_busy_loop_of_the_shell_itself(jobs: JobTable, hands: Watching) -> None:
    started: list[int] = []
    async with anyio.create_task_group() as calls:
        calls.start_soon(bash, jobs, hands, "echo pid=$$; while :; do :; done")
        started = pids(await hands.shows(r"pid=\d+\s"))
        calls.cancel_scope.cancel()
    assert alive(started) == []


async def test_a_command_cannot_signal_the_server(jobs: JobTable, hands: Watching) -> None:
    answer = await bash(jobs, hands, "trap '' TERM; kill 0; echo still here")
    assert answer.content.startswith("still here")


async def test_a_command_that_kills_its_launcher_is_over_and_leaves_nothing(jobs: JobTable, hands: Watching) -> None:
    answer = await bash(jobs, hands, "sleep 1000 & echo pid=$!; kill -9 $PPID; sleep 1001")
    assert "killed by SIGKILL" in answer.content
    assert alive(pids(answer.content)) == []


async def test_what_went_into_a_session_of_its_own_does_not_outlive_a_launcher_that_is_killed(
    jobs: JobTable, hands: Watching
) -> None:
    script = "(setsid sleep 1002 & echo pid=$!); until pgrep -f '^sleep 1002' >/dev/null; do :; done; kill -9 $PPID"
    answer = await bash(jobs, hands, script)
    assert "killed by SIGKILL" in answer.content
    assert alive(pids(answer.content)) == []


@pytest.mark.parametrize("command", ["vi a", "cd sub; vim a", "EDITOR=x /usr/bin/emacs a", "x=$(vi a)"])
async def test_an_editor_is_refused_at_once_with_a_hint(command: str, jobs: JobTable, hands: Watching) -> None:
    answer = await bash(jobs, hands, command)
    assert answer.is_error
    assert "would wait for somebody at the keyboard" in answer.content


@pytest.mark.parametrize("command", ["vim -es -c 'wq' a", "nano --version", "grep vim a", "echo vi"])
def test_what_opens_no_editor_for_nobody_is_none_of_them(command: str) -> None:
    verdict = judge(command)
    assert not isinstance(verdict, Banned)
    assert editor_in(verdict.parts) == ""


async def test_commands_of_one_workspace_run_side_by_side(jobs: JobTable, hands: Watching) -> None:
    answers: list[str] = []

    async def run(command: str) -> None:
        answers.append((await bash(jobs, hands, command)).content.splitlines()[0])

    (hands.workdir / "a").mkdir()
    async with anyio.create_task_group() as calls:
        calls.start_soon(run, "mkfifo pipe; touch ready; cat pipe")
        calls.start_soon(run, "until [ -p pipe ]; do :; done; echo met > pipe; echo said")
    assert sorted(answers) == ["met", "said"]


async def test_scripts_run_as_their_first_line_says(jobs: JobTable, hands: Watching) -> None:
    (hands.workdir / "a.py").write_text("#!/usr/bin/env python3\nprint('python')\n")
    (hands.workdir / "b").write_text("echo shell\n")
    (hands.workdir / "c").write_text("#!/no/such/interpreter\n")
    answer = await bash(jobs, hands, "chmod +x a.py b c; ./a.py | cat; ./b; ./c; ./; touch d; ./d")
    assert answer.content.startswith("python\nshell\n")
    assert "Exit code 126" in answer.content


def test_the_overrides_replace_whole_names_only() -> None:
    env = agent_env({"PAGER": "less", "PAGERS": "x", "MY_PAGER": "y", "HERDR_PANE_ID": "1"})
    assert (env["PAGER"], env["PAGERS"], env["MY_PAGER"], "HERDR_PANE_ID" in env) == ("cat", "x", "y", False)


def test_the_description_names_what_is_banned_and_how_long_answers_are(tmp_path: Path) -> None:
    tool = bash_tool(JobTable(), closing="End commit messages with: Assisted-by: Nobody")
    assert "curl" in tool.description
    assert "npm install --global" in tool.description
    assert "30000 characters" in tool.description
    assert tool.description.endswith("Assisted-by: Nobody")
    assert "{" not in tool.description
    assert json.dumps(tool.parameters["required"]) == '["description", "command"]'


@pytest.mark.parametrize(
    ("command", "asked"),
    [
        ("cat a.txt", ""),
        ("cat *.txt", ""),
        ("cat notes", "notes leads out of the workspace"),
        ("head -n 1 < notes", "notes leads out of the workspace"),
        ("cat n*", "notes leads out of the workspace"),
        ("cd sub && cat up", "up leads out of the workspace"),
        ("cat .e*", ".env may hold secrets"),
        ("cat .en[v]", ".env may hold secrets"),
        ("cat link-to-env", "link-to-env may hold secrets"),
        ("grep -rn x .", ".env may hold secrets"),
        ("grep -rn x sub", ""),
        ("grep -nrE x sub", ""),
        ("grep -rn -A 3 sub", ".env may hold secrets"),
        ("grep -rn --include '*' sub", "may hold secrets"),
        ("grep -Rn x sub", "sub/up leads out of the workspace"),
        ("rg x", ""),
        ("rg --hidden x", ".env may hold secrets"),
        ("cat .en[^x]", ".env may hold secrets"),
        ("cat .en[[:alpha:]]", ".env may hold secrets"),
        ("cat .en[[=v=]]", ".env may hold secrets"),
        ("cat .en[+'-'v]", ".env may hold secrets"),
        ("cat < .en[^x]", ".env may hold secrets"),
        ("cat 'a[b]'", "a[b] leads out of the workspace"),
        ("cat out_et[^x]/passwd", "passwd leads out of the workspace"),
        ("cd out_etc; head -1 pass[^x]d", "passwd leads out of the workspace"),
        ("grep -r1 KEY .", ".env may hold secrets"),
        ("grep -rA1 KEY", ".env may hold secrets"),
        ("grep -rm1 KEY hiding", "hiding/.env may hold secrets"),
        ("grep -rneKEY= .", ".env may hold secrets"),
        ("grep -rnf.env a.txt", ".env may hold secrets"),
        ("grep -d recurse KEY .", ".env may hold secrets"),
        ("grep -ndrec KEY .", ".env may hold secrets"),
        ("grep -d skip KEY a.txt sub", ""),
        ("grep --recurs KEY .", ".env may hold secrets"),
        ("grep --directories recurse KEY .", ".env may hold secrets"),
        ("grep --direct=recurse KEY .", ".env may hold secrets"),
        ("grep -R5 root sub", "sub/up leads out of the workspace"),
        ("grep --deref root sub", "sub/up leads out of the workspace"),
        ("grep -rner sub", ""),
        ("grep -r -- KEY sub", ""),
        ("grep -rer sub", ""),
        ("grep -e KEY sub", ""),
        ("rg -uuC1 KEY", ".env may hold secrets"),
        ("rg -u.C1 KEY", ".env may hold secrets"),
        ("rg -LC1 root sub", "sub/up leads out of the workspace"),
        ("rg -uu -Tless KEY", ".env may hold secrets"),
        ("rg -uu -rfx KEY", ".env may hold secrets"),
        ("rg -uue KEY sub", ""),
        ("diff -N empty .", ".env may hold secrets"),
        ("diff -P empty .", ".env may hold secrets"),
        ("diff --from-file=empty -N .", ".env may hold secrets"),
        ("diff -N --to-file=hiding empty", "hiding/.env may hold secrets"),
        ("diff -rN empty sub", "sub/up leads out of the workspace"),
        ("diff -rN --no-dereference empty sub", ""),
        ("diff -ru5N empty hiding", "hiding/.env may hold secrets"),
        ("git diff empty hiding", "hiding/.env may hold secrets"),
        ("git diff HEAD~1 .", ""),
        ("git diff a.txt .en?", ".env may hold secrets"),
        ("git --no-pager diff notes a.txt", "notes leads out of the workspace"),
        ("wc -l option/*", ""),
        ("cd option; wc -l *", "would be taken for an option"),
        ("du -sh *", ""),
        ("ls -la", ""),
    ],
)
async def test_a_command_that_looks_asks_nobody_unless_what_it_would_show_is_outside_or_a_secret(
    jobs: JobTable, tmp_path: Path, command: str, asked: str
) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    tree(inside, "a.txt", ".env", "sub/b.txt")
    outside.write_text("theirs\n")
    (inside / "notes").symlink_to(outside)
    (inside / "sub" / "up").symlink_to(outside)
    tree(inside, "empty/x.txt", "hiding/.env", "option/-r")
    tree(tmp_path / "etc", "passwd")
    (inside / "out_etc").symlink_to(tmp_path / "etc")
    (inside / "a[b]").symlink_to(outside)
    (inside / "link-to-env").symlink_to(".env")
    hands = Watching(inside, data_dir=tmp_path / "data", env=environment(), judge=only_safe)
    answer = await use(bash_tool(jobs), hands, command=command, description="look")
    (asking,) = hands.asked
    assert (asking.safe, answer.is_error) == (not asked, bool(asked))
    assert asked in asking.description


async def test_a_pattern_that_names_more_files_than_can_be_looked_at_is_for_somebody_to_see(
    jobs: JobTable, hands: Watching
) -> None:
    tree(hands.workdir, *(f"{number:04}" for number in range(2_001)))
    await use(bash_tool(jobs), hands, command="cat *", description="look")
    await use(bash_tool(jobs), hands, command="cat 000*", description="look")
    assert [(asking.safe, "too many files" in asking.description) for asking in hands.asked] == [
        (False, True),
        (True, False),
    ]
