"""The shell as the settings want it: bans, the sandbox, patience, and what is said at the end of a commit."""

import os
import socket
from pathlib import Path

import pytest
from anyio import fail_after

from tests.tools.scene import use
from tests.tools.shell_scene import SECONDS, Watching
from turnkeeper.house.shell import bans, closing, sandbox, shell_tool
from turnkeeper.settings.load import Loaded, load
from turnkeeper.tools.bash import bash_tool
from turnkeeper.tools.jobs import JobTable
from turnkeeper.tools.sandbox import Sandbox
from turnkeeper.tools.tool import Answer

needs_bubblewrap = pytest.mark.skipif(bool(Sandbox(()).lack), reason=f"install bubblewrap: {Sandbox(()).lack}")


def loaded(folder: Path, *lines: str) -> Loaded:
    """What a person has set for all their projects."""
    config = folder / "config"
    config.mkdir(exist_ok=True)
    (config / "turnkeeper.toml").write_text("\n".join(lines))
    project = folder / "project"
    project.mkdir(exist_ok=True)
    return load(project, env={"PATH": os.environ["PATH"], "HOME": str(folder), "TURNKEEPER_CONFIG_DIR": str(config)})


async def bash(settings: Loaded, command: str, **given: object) -> Answer:
    hands = Watching(settings.settings.workdir, data_dir=settings.settings.data_dir, env=settings.environment)
    async with JobTable() as jobs:
        with fail_after(SECONDS):
            return await use(shell_tool(settings, jobs), hands, command=command, description="a test", **given)


def test_more_can_be_banned_and_a_standard_ban_lifted(tmp_path: Path) -> None:
    known = bans(loaded(tmp_path, "[shell]", 'banned = ["git-secret"]', 'unbanned = ["ssh"]').settings)
    assert "git-secret" in known.commands
    assert "ssh" not in known.commands
    assert "curl" in known.commands


async def test_a_command_goes_on_in_the_background_and_is_stopped_when_the_settings_say(tmp_path: Path) -> None:
    patient = loaded(tmp_path, "[waits]", "tool_seconds = 0.2")
    assert "was stopped after 0.2 seconds" in (await bash(patient, "sleep 1000")).content
    quick = loaded(tmp_path, "[waits]", "background_after_seconds = 0.05")
    assert "moved to the background" in (await bash(quick, "sleep 1000")).content


def test_a_project_loosens_the_shell_only_once_it_is_trusted(tmp_path: Path) -> None:
    loaded(tmp_path)
    (tmp_path / "project" / "turnkeeper.toml").write_text('[shell]\nunbanned = ["curl"]\n')
    again = loaded(tmp_path)
    assert "curl" in bans(again.settings).commands
    assert again.waiting


async def test_a_sandbox_that_is_asked_for_and_not_there_is_refused_and_nothing_is_run(tmp_path: Path) -> None:
    without = Sandbox((tmp_path,), program="no-such-program")
    hands = Watching(tmp_path, data_dir=tmp_path / "data", env={"PATH": os.environ["PATH"]})
    async with JobTable() as jobs:
        answer = await use(bash_tool(jobs, sandbox=without), hands, command="touch made", description="")
    assert answer.is_error
    assert answer.content == (
        "the settings ask for a sandbox, but no-such-program is not installed; it comes with the package bubblewrap"
    )
    assert not (tmp_path / "made").exists()


@needs_bubblewrap
async def test_in_the_sandbox_only_the_workspace_is_written_and_what_would_run_later_is_not(tmp_path: Path) -> None:
    settings = loaded(tmp_path, "[shell]", "sandbox = true")
    project = tmp_path / "project"
    (project / ".git" / "hooks").mkdir(parents=True)
    settings.settings.data_dir.mkdir(exist_ok=True)
    lines = ["touch /usr/outside", "touch inside", "touch .git/hooks/pre-commit", "touch .turnkeeper/db"]
    answer = await bash(settings, "; ".join(f"{line} 2>/dev/null && echo yes || echo no" for line in lines))
    assert answer.content.splitlines()[:4] == ["no", "yes", "no", "no"]
    assert (project / "inside").exists()
    await bash(settings, f"touch {tmp_path}/outside")
    assert not (tmp_path / "outside").exists()


@needs_bubblewrap
async def test_the_sandbox_has_no_network_but_for_commands_that_are_named(tmp_path: Path) -> None:
    settings = loaded(tmp_path, "[shell]", "sandbox = true", 'sandbox_network = ["cat /proc/net/*"]')
    alone, online = await bash(settings, "ls; cat /proc/net/dev"), await bash(settings, "cat /proc/net/dev")
    assert interfaces(alone) == {"lo"}
    assert interfaces(online) == {name for _, name in socket.if_nameindex()}


def interfaces(answer: Answer) -> set[str]:
    return {line.split(":")[0].strip() for line in answer.content.splitlines() if ": " in line and "|" not in line}


@needs_bubblewrap
async def test_what_runs_in_the_sandbox_is_stopped_like_everything_else(tmp_path: Path) -> None:
    answer = await bash(loaded(tmp_path, "[shell]", "sandbox = true"), "sleep 1234 & sleep 1235", timeout=1)
    assert "was stopped after 1 seconds" in answer.content
    assert "sleep" in answer.content


def test_a_sandbox_may_write_where_the_settings_say(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    settings = loaded(tmp_path, "[shell]", "sandbox = true", 'sandbox_writable = ["~/cache", "~/nowhere"]')
    assert sandbox(settings).writable == (tmp_path / "project", tmp_path / "cache")


def test_commits_say_that_a_machine_helped_in_the_way_that_was_set(tmp_path: Path) -> None:
    assert "Assisted-by: Turnkeeper" in closing(loaded(tmp_path).settings)
    both = loaded(tmp_path, "[options.attribution]", 'trailer_style = "co-authored-by"', "generated_with = false")
    assert closing(both.settings).startswith("End the message of each commit with the line: Co-Authored-By: Turnkeeper")
    none = loaded(tmp_path, "[options.attribution]", 'trailer_style = "none"', "generated_with = false")
    assert closing(none.settings) == ""
