"""Where things lie."""

import os
from pathlib import Path

import pytest

from tests.settings.scene import Scene
from turnkeeper.settings import dirs
from turnkeeper.settings.defaults import AGENTS, READ_ONLY_TOOLS, Agent, agents, allowed_tools, skill_dirs

HOME = {"HOME": "/home/ada"}


def test_without_anything_said_our_directories_are_where_xdg_puts_them() -> None:
    found = dirs.find_dirs(HOME)
    assert (found.config, found.data, found.cache) == (
        Path("/home/ada/.config/turnkeeper"),
        Path("/home/ada/.local/share/turnkeeper"),
        Path("/home/ada/.cache/turnkeeper"),
    )
    assert (found.runtime, found.system) == (Path("/tmp"), Path("/etc/turnkeeper"))


def test_xdg_moves_them_and_our_own_variables_more_so() -> None:
    env = {**HOME, "XDG_CONFIG_HOME": "/x/c", "XDG_DATA_HOME": "/x/d", "XDG_CACHE_HOME": "relative", "TMPDIR": "/t"}
    found = dirs.find_dirs(env)
    assert (found.config, found.data) == (Path("/x/c/turnkeeper"), Path("/x/d/turnkeeper"))
    assert (found.cache, found.runtime) == (Path("/home/ada/.cache/turnkeeper"), Path("/t"))
    own = {"CONFIG": "/o/c", "DATA": "/o/d", "CACHE": "/o/k", "RUNTIME": "/o/r"}
    found = dirs.find_dirs({**env, **{f"TURNKEEPER_{name}_DIR": value for name, value in own.items()}})
    assert list(map(str, (found.config, found.data, found.cache, found.runtime))) == list(own.values())


def test_the_originals_directories_are_where_the_original_looks() -> None:
    assert dirs.crush_config_dir(HOME) == Path("/home/ada/.config/crush")
    assert dirs.crush_data_dir({**HOME, "XDG_DATA_HOME": "/x"}) == Path("/x/crush")
    env = {**HOME, "XDG_CONFIG_HOME": "/x", "CRUSH_GLOBAL_CONFIG": "/c", "CRUSH_GLOBAL_DATA": "/d"}
    assert (dirs.crush_config_dir(env), dirs.crush_data_dir(env)) == (Path("/c"), Path("/d"))


def test_the_socket_lies_in_the_runtime_directory_or_among_temporary_files() -> None:
    name = f"turnkeeper-{os.getuid()}.sock"
    assert dirs.default_host({"XDG_RUNTIME_DIR": "/run/user/1", "TMPDIR": "/t"}) == f"unix:///run/user/1/{name}"
    assert dirs.default_host({"TMPDIR": "/t"}) == f"unix:///t/{name}"
    assert dirs.default_host({}) == f"unix:///tmp/{name}"


@pytest.mark.parametrize(("spare", "kept"), [(0, True), (1, False)])
def test_a_socket_whose_path_is_too_long_lies_in_tmp(spare: int, kept: bool) -> None:
    name = f"turnkeeper-{os.getuid()}.sock"
    folder = "/" + "d" * (104 - len(name) - 2 + spare)
    host = dirs.default_host({"XDG_RUNTIME_DIR": folder})
    assert host == (f"unix://{folder}/{name}" if kept else f"unix:///tmp/{name}")


def test_a_parent_that_belongs_to_somebody_else_ends_the_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert dirs.project_dirs(inner) == (tmp_path, tmp_path / "a", inner)

    def owner(folder: Path) -> int:
        return 1 if folder == tmp_path else 2

    monkeypatch.setattr(dirs, "_owner", owner)
    assert dirs.project_dirs(inner) == (inner,)


def test_a_repository_may_be_a_worktree_whose_git_is_a_file(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: elsewhere\n")
    (tmp_path / "a").mkdir()
    assert dirs.project_dirs(tmp_path / "a") == (tmp_path, tmp_path / "a")


def test_a_home_and_a_variable_at_the_beginning_of_a_path_are_those_of_the_client() -> None:
    env = {**HOME, "NOTES": "/notes"}
    assert dirs.under_home("~/a", env) == Path("/home/ada/a")
    assert dirs.under_home("$NOTES/a", env) == Path("/notes/a")
    assert dirs.under_home("${NOTES}/a", env) == Path("/notes/a")
    assert dirs.under_home("a/~", env) == Path("a/~")


def test_skills_are_looked_for_where_people_keep_them(scene: Scene) -> None:
    inner = scene.project / "inner"
    found = skill_dirs(scene.settings().config, env=scene.env, workdir=inner)
    home = scene.root / "home"
    for expected in (home / ".agents/skills", home / ".config/crush/skills", inner / ".crush/skills"):
        assert expected in found
    assert found[-1] == scene.project / ".cursor/skills" or found[-1] == inner / ".cursor/skills"
    only = skill_dirs(scene.settings().config, env={**scene.env, "CRUSH_SKILLS_DIR": "/only"}, workdir=scene.project)
    assert only[0] == Path("/only")
    assert home / ".agents/skills" not in only


def test_an_agent_has_the_tools_that_are_allowed_to_it_and_not_disabled() -> None:
    known = ("bash", "glob", "view")
    assert allowed_tools(AGENTS["coder"], known=known, disabled=()) == known
    assert allowed_tools(AGENTS["coder"], known=known, disabled=("bash",)) == ("glob", "view")
    assert allowed_tools(AGENTS["task"], known=known, disabled=("glob",)) == ("view",)
    assert "bash" not in READ_ONLY_TOOLS


def test_an_agent_of_the_configuration_stands_beside_the_two_that_are_always_there() -> None:
    mine = Agent(model="small", allowed_tools=("view",))
    assert agents({"mine": mine, "task": mine}) == {"coder": AGENTS["coder"], "task": mine, "mine": mine}
