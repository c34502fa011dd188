"""What variables say, and what the programs of a workspace see of them."""

import os

import pytest

from tests.settings.scene import Scene, messages
from turnkeeper.protocol.config import Config
from turnkeeper.settings.environment import GROUPS, for_providers, parse_dotenv, working_environment


def test_a_dotenv_is_read_as_shells_read_assignments() -> None:
    text = """
# comment
A=one
export B = two # told
C="three # not a comment\\nline"
D='four $A "x"'
E=
F="several
lines"
G: seven
not an assignment
H=a=b
"""
    assert parse_dotenv(text) == {
        "A": "one",
        "B": "two",
        "C": "three # not a comment\nline",
        "D": 'four $A "x"',
        "E": "",
        "F": "several\nlines",
        "G": "seven",
        "H": "a=b",
    }


def test_what_the_client_brought_along_stands_over_the_dotenv(scene: Scene) -> None:
    scene.write("project", ".env", "OPENAI_API_KEY=file\nGROQ_API_KEY=file\n")
    scene.env["OPENAI_API_KEY"] = "client"
    environment = scene.load().environment
    assert (environment["OPENAI_API_KEY"], environment["GROQ_API_KEY"]) == ("client", "file")


def test_loading_changes_nothing_in_the_environment_of_the_server(scene: Scene) -> None:
    scene.write("project", ".env", "OPENAI_API_KEY=file\n")
    scene.write("user", "turnkeeper.toml", 'env.LEAK = "x"\n')
    before = dict(os.environ)
    scene.load()
    assert dict(os.environ) == before


async def test_programs_see_the_configured_variables_expanded_one_after_another() -> None:
    config = Config(env={"A": "$HOME/a", "B": "${A}/b", "C": "$(echo $B)"})
    env = {"HOME": "/home/ada", "PATH": os.environ["PATH"]}
    from pathlib import Path

    found, missing = await working_environment(config, env, Path("/"))
    assert missing == {}
    assert (found["A"], found["B"], found["C"]) == ("/home/ada/a", "/home/ada/a/b", "/home/ada/a/b")
    assert env == {"HOME": "/home/ada", "PATH": os.environ["PATH"]}
    found, missing = await working_environment(Config(env={"A": "$(exit 4)", "B": "b$A"}), env, Path("/"))
    assert found == {**env, "B": "b"}
    assert "exit 4" in missing["A"]


def test_every_knob_can_be_said_in_a_variable(scene: Scene) -> None:
    for group, kind in GROUPS.items():
        for key in kind.__struct_fields__:
            default = getattr(kind(), key)
            scene.env[f"TURNKEEPER_{group}_{key}".upper()] = str(default)
    loaded = scene.load()
    assert messages(loaded) == []
    scene.env["TURNKEEPER_RUNS_DETACHED_RUNS"] = "false"
    scene.env["TURNKEEPER_RUNS_QUEUE_AFTER_CRASH"] = "wait"
    runs = scene.settings().runs
    assert (runs.detached_runs, runs.queue_after_crash) == (False, "wait")
    assert str(scene.settings().sources.of("runs.detached_runs")) == "environment"


@pytest.mark.parametrize("value", ["soon", "-1", ""])
def test_a_variable_that_cannot_be_read_is_told_and_ignored(scene: Scene, value: str) -> None:
    scene.env["CRUSH_SERVER_IDLE_TIMEOUT"] = value
    loaded = scene.load()
    assert loaded.settings.server.idle_seconds == 60
    assert [str(notice).partition(":")[0] for notice in loaded.notices] == ["$CRUSH_SERVER_IDLE_TIMEOUT"]


def test_the_originals_variables_are_understood(scene: Scene) -> None:
    scene.env |= {"CRUSH_SERVER_IDLE_TIMEOUT": "0", "CRUSH_SERVER_DETACH_GRACE": "3", "DO_NOT_TRACK": "1"}
    scene.env |= {"CRUSH_DISABLE_DEFAULT_PROVIDERS": "true", "CRUSH_DISABLE_PROVIDER_AUTO_UPDATE": "0"}
    settings = scene.settings()
    assert (settings.server.idle_seconds, settings.server.detach_grace_seconds) == (0, 3)
    options = settings.config.options
    assert (options.disable_metrics, options.disable_default_providers) == (True, True)
    assert not options.disable_provider_auto_update


def test_a_key_for_us_alone_hides_the_general_one_from_providers() -> None:
    env = {"OPENAI_API_KEY": "theirs", "CRUSH_OPENAI_API_KEY": "crush", "TURNKEEPER_OPENAI_API_KEY": "ours"}
    assert for_providers(env)["OPENAI_API_KEY"] == "ours"
    assert env["OPENAI_API_KEY"] == "theirs"
