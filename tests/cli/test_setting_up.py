"""Models, providers, places, versions, completion and databases, as processes of their own in a home of their own."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.inside import inside, said
from tests.cli.scene import Home, home
from turnkeeper import __version__
from turnkeeper.models.scripted import Say, turn


def configured(at: Home, text: str) -> None:
    path = at.path / ".config" / "turnkeeper" / "turnkeeper.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.e2e
@pytest.mark.slow
def test_models_and_providers_are_listed_and_one_is_chosen() -> None:
    with home(TURNKEEPER_SERVER_IDLE_TIMEOUT="60") as at:
        assert at.run("models").stdout == "offline/offline\n"
        assert "turnkeeper login" in at.run("providers").stderr
        configured(
            at,
            """
            [providers.box]
            base_url = "http://127.0.0.1:9/v1"
            models = [{ id = "m1", name = "One", context_window = 8000 }, { id = "m2", name = "Two" }]
            [providers.broken]
            api_key = "x"
            """,
        )
        assert at.run("models", "list").stdout.splitlines() == ["box/m1", "box/m2"]
        assert at.run("models", "list", "TWO", "box").stdout == "box/m2\n"
        assert at.run("models", "list", "nothing").returncode == 1
        assert "anthropic/" in at.run("models", "list", "--all", "claude").stdout
        found = {one["id"]: one for one in json.loads(at.run("providers", "--json").stdout)}
        assert (found["box"]["state"], found["broken"]["why"]) == ("ready", "base_url is missing")
        assert "base_url is missing" in at.run("providers").stdout
        assert at.run("models", "choose", "M2").stderr == "box/m2 is now the large model of this workspace.\n"
        assert at.run("models", "choose", "box/none").returncode == 2
        used = {one["id"]: one["used_as"] for one in json.loads(at.run("models", "--json").stdout)}
        assert "large" in used["m2"]
        catalogue = at.project / "catalogue.json"
        catalogue.write_text(
            '[{"id": "new", "name": "New", "api_key": "$NEW_KEY", "models": [{"id": "n1", "name": "N"}]}]'
        )
        assert "knows 1 providers" in at.run("providers", "update", str(catalogue)).stderr
        assert "new/n1" in at.run("models", "list", "--all").stdout.splitlines()
        assert at.run("providers", "update", "embedded").returncode == 0


@pytest.mark.e2e
@pytest.mark.slow
def test_what_needs_no_server_starts_none() -> None:
    with home() as at:
        places = json.loads(at.run("dirs", "--json").stdout)
        assert places["config"] == str(at.path / ".config" / "turnkeeper")
        assert places["workspace"] == str(at.project / ".turnkeeper")
        assert at.run("dirs").stdout.splitlines()[0] == places["config"]
        assert at.run("projects").stderr == "No project has been opened yet.\n"
        told = json.loads(at.run("version", "--json").stdout)
        assert (told["version"], told["server"]) == (__version__, None)
        assert at.run("version").stdout.startswith(f"turnkeeper {__version__} (build ")
        assert at.server_pids() == []


@pytest.mark.e2e
@pytest.mark.slow
def test_a_database_is_checked_copied_and_compacted_and_its_project_remembered() -> None:
    with home(TURNKEEPER_SERVER_IDLE_TIMEOUT="60") as at:
        assert at.run("db", "check").stderr == "The database is whole.\n"
        copy = at.run("db", "backup", "copy.db").stdout.strip()
        assert copy == str(at.project / "copy.db")
        assert Path(copy).read_bytes().startswith(b"SQLite format 3")
        assert at.run("db", "backup", "copy.db").returncode == 1
        refused = at.run("db", "backup", "/proc/copy.db")
        assert (refused.returncode, "/proc/copy.db cannot be written" in refused.stderr) == (2, True)
        assert at.run("db", "compact", "--json").returncode == 0
        assert json.loads(at.run("projects", "--json").stdout)["projects"][0]["path"] == str(at.project)
        assert json.loads(at.run("version", "--json").stdout)["server"]["version"] == __version__


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_printed_for_both_names(shell: str) -> None:
    with home() as at:
        script = at.run("completion", shell).stdout
    assert "_TURNKEEPER_COMPLETE" in script
    assert "turnkeeper" in script
    assert " tk" in script


def test_bash_completes_commands_and_what_they_take() -> None:
    with home() as at:
        assert at.run("completion").returncode == 2
        words = completed(at, "turnkeeper", "se")
        assert set(words) == {"sessions", "server"}
        assert "list" in completed(at, "turnkeeper", "sessions", "l")
        assert "--json" in completed(at, "turnkeeper", "sessions", "list", "--j")


def completed(at: Home, *words: str) -> list[str]:
    """What bash would offer for the last of the words."""
    said = at.run(
        _TURNKEEPER_COMPLETE="bash_complete", COMP_WORDS=" ".join(words), COMP_CWORD=str(len(words) - 1)
    ).stdout
    return [line.partition(",")[2] for line in said.splitlines()]


async def test_a_table_is_cut_for_a_narrow_terminal_and_never_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    async with inside(turn(Say("x"))) as at:
        await said(at, "A title that is quite long", "hi")
        assert "A title that is quite long" in (await at.tk("sessions")).out
        monkeypatch.setattr("turnkeeper.cli.output.is_terminal", is_always_one)
        monkeypatch.setenv("COLUMNS", "50")
        monkeypatch.setenv("TERM", "xterm")
        shown = (await at.tk("sessions")).out.splitlines()
        assert shown[0].startswith("\x1b[1m")
        assert shown[1].endswith("…")
        assert len(shown[1]) == 50
        monkeypatch.setenv("NO_COLOR", "1")
        assert "\x1b" not in (await at.tk("sessions")).out


def is_always_one(_: object) -> bool:
    return True


def test_bash_accepts_what_is_printed_for_it() -> None:
    with home() as at:
        script = at.run("completion", "bash").stdout
    checked = subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True, timeout=20, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")
