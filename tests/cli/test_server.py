"""`turnkeeper server`: the server of one's own, started, looked at and stopped as a process."""

import json
import signal
import sys
from pathlib import Path
from subprocess import run as run_process

import pytest

from tests.cli.scene import home
from turnkeeper import __version__

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def test_the_server_is_started_told_about_logged_and_stopped() -> None:
    with home(TURNKEEPER_SERVER_IDLE_TIMEOUT="60") as at:
        assert at.run("server", "status").returncode == 1
        assert json.loads(at.run("server", "status", "--json").stdout)["running"] is False
        assert at.run("server", "stop").stderr.startswith("No server runs at unix://")
        assert at.run("server", "start").returncode == 0
        assert at.run("server", "start").returncode == 0
        (pid,) = at.server_pids()
        said = json.loads(at.run("server", "status", "--json").stdout)
        assert (said["pid"], said["version"], said["is_this_build"], said["workspaces"]) == (pid, __version__, True, [])
        assert f"(pid {pid})" in at.run("server", "status").stdout
        assert "server started" in at.run("server", "logs").stdout
        stopped = at.run("server", "stop")
        assert (stopped.returncode, stopped.stderr) == (0, "The server has stopped.\n")
        assert at.server_pids() == []


def test_a_server_elsewhere_is_not_ours_to_start_or_stop() -> None:
    with home() as at:
        said = at.run("server", "stop", "--host", "tcp://127.0.0.1:1")
    assert said.returncode == 2
    assert "on this computer" in said.stderr


def test_the_server_in_the_foreground_leaves_on_a_signal() -> None:
    with home() as at:
        process = at.begin("server", "--log-file", "server.log")
        assert process.stderr is not None
        assert process.stderr.readline().startswith(f"Turnkeeper {__version__} listens on unix://")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
        assert process.returncode == 0
        # The directory can be looked into; what is said in the log is the owner's alone.
        assert (at.project / "server.log").stat().st_mode & 0o077 == 0


def test_the_log_says_as_much_as_was_set() -> None:
    with home(TURNKEEPER_LOG_LEVEL="warning") as at:
        log = at.path / "quiet.log"
        process = at.begin("server", "--log-file", str(log))
        assert process.stderr is not None
        assert process.stderr.readline().startswith(f"Turnkeeper {__version__} listens on unix://")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
        assert log.read_text() == ""


def test_the_log_can_say_what_no_text_can(tmp_path: Path) -> None:
    writes = (
        "import logging, pathlib, sys; from turnkeeper.house.logs import log_to; "
        "log_to(pathlib.Path(sys.argv[1])); logging.getLogger('it').info('half a letter: \\ud83d')"
    )
    done = run_process([sys.executable, "-c", writes, str(tmp_path / "server.log")], capture_output=True, timeout=30)
    assert done.stderr == b""
    assert (tmp_path / "server.log").read_text("utf-8").endswith("half a letter: \\ud83d\n")
