"""`turnkeeper run`, as scripts and schedulers use it: real processes against a real server with a scripted model."""

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.scene import Home, home
from turnkeeper.models.model import Trouble
from turnkeeper.models.scripted import CallTool, Cut, Fail, Hold, Say, Use, turn
from turnkeeper.protocol.runs import Usage
from turnkeeper.settings.settings import Waits

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

KEYS = [
    "type",
    "run_id",
    "session_id",
    "outcome",
    "exit_code",
    "text",
    "message_id",
    "error",
    "cause",
    "retryable",
    "denied",
    "steps",
    "usage",
    "duration_ms",
    "model",
]


@pytest.fixture(scope="module")
def house() -> Iterator[Home]:
    with home(TURNKEEPER_SERVER_IDLE_TIMEOUT="60") as at:
        yield at


@pytest.fixture
def at(house: Home, request: pytest.FixtureRequest) -> Home:
    """A directory of its own for every test, at one server for all of them."""
    return house.at(f"p{abs(hash(request.node.name)) % 10**8}")


def ending(stdout: str) -> dict[str, Any]:
    said = json.loads(stdout.splitlines()[-1])
    assert list(said) == KEYS
    return said


def test_with_nothing_configured_a_prompt_is_answered_at_once_and_it_is_said_by_whom(at: Home) -> None:
    (at.project / "notes.txt").write_text("hello")
    said = at.run("run", "what is in this directory?")
    assert (said.returncode, "notes.txt" in said.stdout) == (0, True)
    (line,) = said.stderr.splitlines()
    assert "no model is configured" in line
    assert "turnkeeper login" in line


def test_stdout_is_the_final_text_once_and_nothing_that_was_said_on_the_way(at: Home) -> None:
    look = turn(Say("Let me look."), CallTool("c", "ls", {"path": "."}))
    at.script(look, turn(Say(" \tIt is\n  empty.", characters=3)))
    said = at.run("run", "what", "is", "here?")
    assert (said.returncode, said.stdout, said.stderr) == (0, "It is\n  empty.\n", "")


def test_what_was_set_and_is_not_in_force_is_said(at: Home) -> None:
    at.script(turn(Say("ok")), again=True)
    (at.project / "crushrc").write_text("option debug true\n")
    said = at.run("run", "hi")
    waits = f"{at.project / 'crushrc'} takes effect when you trust it"
    assert (said.returncode, said.stdout, waits in said.stderr) == (0, "ok\n", True)
    assert at.run("run", "--quiet", "hi").stderr == ""
    assert at.run("config", "trust", "--yes").returncode == 0
    assert at.run("run", "hi").stderr == ""


def test_settings_with_which_no_server_starts_are_told_by_file_line_and_key() -> None:
    with home() as at:
        settings = at.path / ".config" / "turnkeeper" / "turnkeeper.toml"
        settings.parent.mkdir(parents=True)
        settings.write_text("[waits]\nconnect_seconds = 'x'\n")
        said = at.run("run", "-o", "json", "hi")
    over = ending(said.stdout)
    assert (said.returncode, over["outcome"], over["retryable"]) == (2, "refused", False)
    assert f"{settings}:2: waits.connect_seconds: a number" in over["error"]


def test_every_line_of_the_stream_is_json_and_the_last_is_the_ending(at: Home) -> None:
    at.script(turn(Say("hm"), CallTool("c", "ls", {})), turn(Say("done", characters=2)))
    said = at.run("run", "-o", "stream-json", "hi")
    lines = [json.loads(line) for line in said.stdout.splitlines()]
    assert [line["type"] for line in lines] == [
        "run.accepted",
        "run.started",
        "message.began",
        "text",
        "tool.call",
        "tool.result",
        "message.began",
        "text",
        "text",
        "run.complete",
    ]
    over = ending(said.stdout)
    assert (over["outcome"], over["exit_code"], over["text"], over["steps"]) == ("completed", 0, "done", 2)
    assert (over["run_id"], over["model"]) == (lines[0]["run_id"], "scripted/scripted")


def test_an_open_pipe_that_says_nothing_keeps_nobody_waiting(at: Home) -> None:
    at.script(turn(Say("fine")))
    silent, _open = os.pipe()
    try:
        said = at.run("run", "hi", stdin=silent)
    finally:
        os.close(silent)
        os.close(_open)
    assert (said.returncode, said.stdout) == (0, "fine\n")
    assert "a pipe that says nothing" in said.stderr


def test_what_is_piped_in_comes_before_the_prompt(at: Home, tmp_path: Path) -> None:
    at.script(turn(Say("ok")), again=True)
    (tmp_path / "notes").write_text("from a file\n")
    with (tmp_path / "notes").open() as notes:
        assert at.run("run", "explain", stdin=notes.fileno()).returncode == 0
    reading, writing = os.pipe()
    os.write(writing, b"from a pipe")
    os.close(writing)
    assert at.run("run", "explain", stdin=reading).returncode == 0
    os.close(reading)
    prompts = [run["prompt"] for run in json.loads(at.run("runs", "--json").stdout)]
    assert prompts == ["from a pipe\n\nexplain", "from a file\n\nexplain"]


def test_no_prompt_at_all_is_a_usage_error(at: Home) -> None:
    said = at.run("run")
    assert said.returncode == 2
    assert "there is no prompt" in said.stderr


def test_what_needed_a_person_is_refused_and_the_exit_code_says_so(at: Home) -> None:
    touch = turn(CallTool("c", "bash", {"command": "touch made", "description": "make it"}))
    at.script(touch, turn(Say("I may not.")))
    said = at.run("run", "-o", "json", "make it")
    over = ending(said.stdout)
    assert (said.returncode, over["outcome"], over["denied"]) == (5, "completed", ["bash(touch made)"])
    assert not (at.project / "made").exists()


def test_a_rule_of_the_command_line_allows_and_denies_for_this_run_alone(at: Home) -> None:
    def touch(name: str) -> Any:
        return CallTool(name, "bash", {"command": f"touch {name}", "description": "make it"})

    at.script(turn(touch("a")), turn(Say("done")))
    assert at.run("run", "--allow", "bash(touch:*)", "go").returncode == 0
    at.script(turn(touch("b")), turn(Say("no")))
    assert at.run("run", "--yolo", "--deny", "bash(touch:*)", "go").returncode == 5
    at.script(turn(touch("c")), turn(Say("done")))
    assert at.run("run", "--yolo", "go").returncode == 0
    at.script(turn(touch("d")), turn(Say("no")))
    assert at.run("run", "go").returncode == 5
    assert [name for name in "abcd" if (at.project / name).exists()] == ["a", "c"]


@pytest.mark.parametrize("rule", ["bash(", "", "rm -rf /"])
def test_a_rule_that_cannot_be_read_is_a_mistake_before_anything_begins(at: Home, rule: str) -> None:
    at.script(turn(Say("never said")))
    said = at.run("run", "-o", "json", "--deny", rule, "hi")
    over = ending(said.stdout)
    assert (said.returncode, over["outcome"], "not a permission rule" in over["error"]) == (2, "refused", True)
    assert (at.run("runs", "--json").stdout, at.run("sessions", "--json").stdout) == ("[]\n", "[]\n")


def test_a_model_that_stalls_is_ended_by_the_time_limit(at: Home) -> None:
    at.script(turn(Say("well"), Hold("for ever")))
    said = at.run("run", "--time-limit", "0.2", "-o", "json", "hi")
    over = ending(said.stdout)
    assert (said.returncode, over["outcome"], over["cause"], over["text"]) == (3, "failed", "limit", "well")


def test_a_limit_of_steps_ends_the_run(at: Home) -> None:
    at.script(turn(CallTool("c", "ls", {})), turn(Say("never said")))
    assert at.run("run", "--max-steps", "1", "hi").returncode == 3


@pytest.mark.parametrize("limit", [("--max-tokens", "1000"), ("--max-cost", "0.01")], ids=["tokens", "cost"])
def test_a_limit_of_tokens_or_of_money_ends_the_run_before_it_goes_on(at: Home, limit: tuple[str, str]) -> None:
    used = Use(Usage(200_000, 1000, cost=0.5))
    at.script(turn(used, CallTool("c", "ls", {})), turn(Say("never said")))
    said = at.run("run", "-o", "json", *limit, "hi")
    over = ending(said.stdout)
    assert (said.returncode, over["outcome"], over["cause"], over["text"]) == (3, "failed", "limit", "")


def test_tools_are_named_beside_the_answer_where_that_is_wanted(at: Home) -> None:
    at.script(turn(CallTool("c", "ls", {"path": "src"})), turn(CallTool("d", "ls", {})), turn(Say("done")), again=True)
    said = at.run("run", "--verbose", "hi")
    assert (said.stdout, said.stderr.splitlines()[0], said.stderr.splitlines()[-1]) == ("done\n", "• ls src", "• ls")
    assert at.run("run", "hi").stderr == ""


def test_a_stream_that_is_cut_is_asked_again_and_the_answer_is_there_once(at: Home) -> None:
    at.configure("")
    at.script(turn(Say("half an ans"), Cut()), turn(Say("The answer.")))
    said = at.run("run", "hi")
    assert (said.returncode, said.stdout) == (0, "The answer.\n")


@pytest.mark.parametrize(
    ("trouble", "status", "code"), [(Trouble.AUTH, 401, 2), (Trouble.REFUSED, 400, 1)], ids=["401", "400"]
)
def test_what_a_provider_refuses_for_good_fails_at_once(at: Home, trouble: Trouble, status: int, code: int) -> None:
    at.script(turn(Fail(trouble, "your key is wrong", status=status)))
    said = at.run("run", "hi")
    assert (said.returncode, said.stdout) == (code, "")
    assert "your key is wrong" in said.stderr


def test_a_provider_that_cannot_be_reached_is_given_up_in_time_and_may_be_tried_again_later(at: Home) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    at.configure(f"""
        [providers.gone]
        type = "openai-compat"
        base_url = "http://127.0.0.1:{port}/v1"
        api_key = "x"
        [[providers.gone.models]]
        id = "m"
        [models.large]
        provider = "gone"
        model = "m"
        [waits]
        connect_seconds = 0.5
    """)
    assert Waits().connect_seconds <= 10
    said = at.run("run", "-o", "json", "hi")
    over = ending(said.stdout)
    assert (said.returncode, over["retryable"], over["cause"]) == (75, True, "provider")


def test_a_server_that_cannot_be_reached_is_said_at_once(at: Home) -> None:
    said = at.run("run", "--host", "tcp://127.0.0.1:1", "-o", "json", "hi")
    over = ending(said.stdout)
    assert (said.returncode, over["outcome"], over["retryable"]) == (75, "refused", True)
    assert "no server answers at tcp://127.0.0.1:1" in over["error"]


def started(process: subprocess.Popen[str]) -> str:
    """Read the stream until the model has said something; the run's id."""
    assert process.stdout is not None
    run_id = json.loads(process.stdout.readline())["run_id"]
    while json.loads(process.stdout.readline())["type"] != "text":
        pass
    return run_id


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["INT", "TERM"])
def test_the_first_signal_cancels_the_run_and_its_ending_is_the_last_line(
    at: Home, number: signal.Signals, code: int
) -> None:
    at.script(turn(Say("begun"), Hold("for ever")))
    process = at.begin("run", "-o", "stream-json", "hi")
    run_id = started(process)
    process.send_signal(number)
    rest, _ = process.communicate(timeout=20)
    over = ending(rest)
    assert (process.returncode, over["outcome"], over["text"]) == (code, "cancelled", "begun")
    assert at.run("result", run_id).returncode == 4


def test_the_second_signal_leaves_at_once_and_the_run_ends_all_the_same(at: Home) -> None:
    at.script(turn(Say("begun"), Hold("for ever")))
    (pid,) = at.server_pids() or [0]
    process = at.begin("run", "-o", "stream-json", "hi")
    run_id = started(process)
    pid = at.server_pids()[0]
    os.kill(pid, signal.SIGSTOP)
    try:
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=20)
    finally:
        os.kill(pid, signal.SIGCONT)
    over = ending(rest)
    assert (process.returncode, over["outcome"], over["run_id"]) == (130, "lost", run_id)
    assert at.run("wait", run_id).returncode == 4


def test_one_key_is_one_run_however_often_and_from_wherever_it_is_asked_for(at: Home) -> None:
    at.script(turn(Say("once")))
    both = [at.begin("run", "--id", "nightly", "-o", "json", "hi") for _ in range(2)]
    said = [process.communicate(timeout=30)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert [ending(one)["text"] for one in said] == ["once", "once"]
    assert at.run("run", "--id", "nightly", "hi").stdout == "once\n"
    assert len(json.loads(at.run("runs", "--json").stdout)) == 1
    other = at.run("run", "--id", "nightly", "-o", "json", "something else")
    assert (other.returncode, ending(other.stdout)["outcome"]) == (2, "refused")


def test_a_run_that_was_detached_goes_on_and_is_waited_for_looked_at_and_cancelled(at: Home) -> None:
    at.script(turn(Say("begun"), Hold("for ever")))
    left = at.run("run", "--detach", "--quiet", "hi")
    run_id = left.stdout.strip()
    assert at.run("result", run_id[:8]).returncode == 75
    assert at.run("wait", run_id, "--timeout", "0.1").returncode == 3
    (run,) = json.loads(at.run("runs", "--json").stdout)
    assert (run["run_id"], run["state"]) == (run_id, "active")
    assert at.run("cancel", run_id).returncode == 0
    assert (at.run("wait", run_id).returncode, at.run("result", run_id).returncode) == (4, 4)
    assert "cancelled" in at.run("runs").stdout


def test_sixteen_runs_at_once_in_one_directory_each_end_with_their_own_answer(at: Home) -> None:
    at.script(*[turn(Say(f"answer {n}"), when=f"question {n} ") for n in range(16)])
    processes = [at.begin("run", f"question {n} please") for n in range(16)]
    said = [process.communicate(timeout=60) for process in processes]
    assert [process.returncode for process in processes] == [0] * 16, said
    assert [out for out, _ in said] == [f"answer {n}\n" for n in range(16)]


def test_a_session_is_continued_by_name_by_prefix_and_by_being_the_last(at: Home) -> None:
    at.script(turn(Say("ok")), again=True)
    first = ending(at.run("run", "-o", "json", "one").stdout)["session_id"]
    assert ending(at.run("run", "-o", "json", "--continue", "two").stdout)["session_id"] == first
    assert ending(at.run("run", "-o", "json", "-s", first[:12], "three").stdout)["session_id"] == first
    other = ending(at.run("run", "-o", "json", "four").stdout)["session_id"]
    assert other != first
    assert at.run("run", "-s", "nowhere", "five").returncode == 2


def test_a_model_is_chosen_for_one_run_and_nothing_is_changed_by_it(at: Home) -> None:
    at.script(turn(Say("scripted")), again=True)
    assert ending(at.run("run", "-o", "json", "-m", "offline", "hi").stdout)["model"] == "offline/offline"
    assert ending(at.run("run", "-o", "json", "hi").stdout)["model"] == "scripted/scripted"
    assert at.run("run", "-m", "no such model", "hi").returncode == 2


def test_what_is_sent_along_reaches_the_session_and_what_came_of_it_is_kept(at: Home, tmp_path: Path) -> None:
    at.script(turn(Say("read")))
    (at.project / "notes.md").write_text("# Notes")
    said = at.run("run", "--attach", "notes.md", "--output-dir", "out", "what is this?")
    assert (said.returncode, said.stdout) == (0, "read\n")
    kept = at.project / "out"
    assert sorted(path.name for path in kept.iterdir()) == ["answer.md", "events.jsonl", "result.json"]
    assert (kept / "answer.md").read_text() == "read"
    assert ending((kept / "events.jsonl").read_text()) == ending((kept / "result.json").read_text())
    (run,) = json.loads(at.run("runs", "--json").stdout)
    assert [sent["file_name"] for sent in run["attachments"]] == ["notes.md"]


def test_a_command_left_running_in_the_background_keeps_nobody_waiting(at: Home) -> None:
    sleep = {"command": "sleep 300", "description": "sleep", "run_in_background": True}
    at.script(turn(CallTool("c", "bash", sleep)), turn(Say("It sleeps.")))
    said = at.run("run", "--yolo", "sleep")
    assert (said.returncode, said.stdout) == (0, "It sleeps.\n")


def rest_of(terminal: int) -> str:
    """What is still shown on a terminal until its program has left."""
    shown = b""
    with os.fdopen(terminal, "rb", buffering=0) as screen:
        try:
            while more := screen.read(4096):
                shown += more
        except OSError:  # how a terminal says that nobody is at its other end
            pass
    return shown.decode()


def test_on_a_terminal_the_answer_is_shown_as_it_comes(at: Home) -> None:
    at.script(turn(Say("The first words"), Hold("for ever")))
    mine, its = os.openpty()
    process = at.begin("run", "hi", stdout=its, stderr=its)
    os.close(its)
    shown = ""
    while "The first words" not in shown:
        shown += os.read(mine, 4096).decode()
    process.send_signal(signal.SIGINT)
    shown += rest_of(mine)
    assert process.wait(20) == 130
    assert shown.count("The first words") == 1
    assert shown.endswith("turnkeeper: cancelled\r\n")


def test_a_reader_that_leaves_ends_the_command_without_a_word(at: Home) -> None:
    at.script(turn(Say("a long story " * 20000)))
    with at.begin("run", "tell") as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        said = process.stderr.read()
    assert (process.returncode, said) == (141, "")


def test_a_server_that_is_killed_is_found_again_and_the_ending_is_reported() -> None:
    with home(TURNKEEPER_SERVER_IDLE_TIMEOUT="60") as at:
        at.script(turn(Say("begun"), Hold("for ever")))
        process = at.begin("run", "-o", "stream-json", "hi")
        run_id = started(process)
        os.kill(at.server_pids()[0], signal.SIGKILL)
        rest, _ = process.communicate(timeout=40)
        over = ending(rest)
        assert (process.returncode, over["outcome"], over["run_id"], over["retryable"]) == (
            75,
            "interrupted",
            run_id,
            True,
        )
        assert len(at.server_pids()) == 1
