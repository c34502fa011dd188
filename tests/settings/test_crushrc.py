"""A crushrc, run by a real bash."""

import os
from typing import Any

import msgspec
import pytest

from tests.settings.scene import Scene, messages
from turnkeeper.settings import crushrc
from turnkeeper.settings.load import reload
from turnkeeper.settings.reading import ConfigProblem
from turnkeeper.settings.words import Words, WrongWord


def said(*lines: str) -> dict[str, Any]:
    words = Words()
    for line in lines:
        word, *arguments = line.split()
        words.say(word, arguments)
    return words.tree


def test_a_script_says_what_a_file_of_json_says(scene: Scene) -> None:
    scene.write(
        "crush user",
        "crushrc",
        """
        # A provider of our own, when there is a key for it.
        if [[ -n $BOX_KEY ]]; then
          provider add box --type openai-compat --base-url "http://$(echo localhost):1/v1" --api-key '$BOX_KEY' \\
            --extra-header X-One 1 --extra-header X-Two 2 --extra-body '{"a": [1]}' --flat-rate YES
          model add box/org/m1 --name One --context-window 1000 --can-reason true --price-input 0.5 --supports-images no
          model large box/org/m1 --think --top-p 0.5 --max-tokens 100
        fi
        mcp add files --command npx --args -y --args server --env TOKEN '$T' --disabled-tools rm
        mcp add web --url http://localhost/mcp --header Authorization 'Bearer $T' --oauth false
        lsp add gopls --command gopls --args -v --filetypes go --init-options '{"x": 1}'
        hook add pre_tool_use --command ./check.sh --matcher '^bash$' --timeout 5 --name check
        permissions allow view bash view
        permissions deny fetch
        option debug
        option metrics false
        option auto-lsp no
        option context-path docs/A.md
        option context-path docs/B.md
        option ui completions-max-depth 3
        option attribution-trailer-style none
        """,
    )
    scene.env["BOX_KEY"] = "k"
    config = msgspec.json.decode(msgspec.json.encode(scene.settings().config))
    assert config["providers"]["box"] == {
        "type": "openai-compat",
        "base_url": "http://localhost:1/v1",
        "api_key": "$BOX_KEY",
        "extra_headers": {"X-One": "1", "X-Two": "2"},
        "extra_body": {"a": [1]},
        "flat_rate": True,
        "models": config["providers"]["box"]["models"],
    }
    model = config["providers"]["box"]["models"][0]
    assert (model["id"], model["name"], model["context_window"], model["can_reason"]) == ("org/m1", "One", 1000, True)
    assert config["models"]["large"] == {
        "model": "org/m1",
        "provider": "box",
        "think": True,
        "top_p": 0.5,
        "max_tokens": 100,
    }
    assert config["mcp"]["files"] == {
        "command": "npx",
        "args": ["-y", "server"],
        "env": {"TOKEN": "$T"},
        "type": "stdio",
        "disabled_tools": ["rm"],
    }
    assert config["mcp"]["web"] == {
        "type": "http",
        "url": "http://localhost/mcp",
        "headers": {"Authorization": "Bearer $T"},
    }
    assert config["lsp"]["gopls"]["init_options"] == {"x": 1}
    assert config["hooks"]["PreToolUse"] == [
        {"name": "check", "matcher": "^bash$", "command": "./check.sh", "timeout": 5}
    ]
    assert config["permissions"]["allowed_tools"] == ["view", "bash"]
    options = config["options"]
    assert (options["debug"], options["disable_metrics"], options["auto_lsp"]) == (True, True, False)
    assert options["disabled_tools"] == ["fetch"]
    assert {"docs/A.md", "docs/B.md"} <= set(options["context_paths"])
    assert options["tui"]["completions"] == {"max_depth": 3}
    assert options["attribution"]["trailer_style"] == "none"


@pytest.mark.parametrize(
    "line",
    [
        "provider",
        "provider add",
        "provider make x",
        "provider add x --unknown y",
        "provider add x --name",
        "provider add x --disable perhaps",
        "provider add x --extra-header only-name",
        "provider add x --extra-body [1]",
        "provider add x --extra-body {",
        "model add nowhere/m",
        "model add noslash",
        "model remove nowhere/m",
        "model large x/y --top-p 1.5",
        "model large x/y --max-tokens many",
        "model large x/y --reasoning-effort extreme",
        "model medium x/y",
        "lsp add gopls",
        "hook add PreToolUse",
        "permissions allow",
        "permissions maybe bash",
        "option nonsense true",
        "option debug perhaps",
        "option reset debug",
        "option ui compact",
        "option initialize-as",
        "option",
    ],
)
def test_a_word_used_wrongly_is_refused(line: str) -> None:
    with pytest.raises(WrongWord):
        said(line)


@pytest.mark.parametrize("text", ["true", "TRUE", "1", "yes", "Yes"])
def test_yes_can_be_written_in_any_case(text: str) -> None:
    assert said(f"option debug {text}") == {"options": {"debug": True}}
    assert said(f"option auto-summarize {text}") == {"options": {"disable_auto_summarize": False}}


def test_adding_the_same_thing_again_replaces_it() -> None:
    tree = said(
        "provider add p --name one --type openai",
        "model add p/m --name A",
        "model add p/m --name B",
        "provider add p --name two",
        "hook add PreToolUse --name h --command a",
        "hook add PreToolUse --name h --command b",
    )
    assert tree["providers"] == {"p": {"name": "two", "models": [{"id": "m", "name": "B"}]}}
    assert tree["hooks"] == {"PreToolUse": [{"name": "h", "command": "b"}]}


@pytest.mark.parametrize("word", ["remove", "rm"])
def test_what_was_added_can_be_removed_again(word: str) -> None:
    tree = said(
        "provider add p --name one",
        "provider add q --name two",
        "model add q/m",
        f"model {word} q/m",
        f"provider {word} p",
        "mcp add s --command c",
        f"mcp {word} s",
        "lsp add l --command c",
        f"lsp {word} l",
        "hook add PreToolUse --name a --command a",
        "hook add PreToolUse --name b --command b",
        f"hook {word} PreToolUse --name a",
    )
    assert tree["providers"] == {"q": {"name": "two", "models": []}}
    assert (tree["mcp"], tree["lsp"]) == ({}, {})
    assert tree["hooks"] == {"PreToolUse": [{"name": "b", "command": "b"}]}
    assert said("hook add PreToolUse --command a", f"hook {word} PreToolUse")["hooks"] == {}


def test_what_was_inherited_can_be_removed_too(scene: Scene) -> None:
    scene.write("crush user", "crush.json", '{"mcp": {"a": {"command": "x"}}, "options": {"skills_paths": ["one"]}}')
    scene.write("crush user", "crushrc", "mcp rm a\noption reset skill-path\noption skill-path two\n")
    config = scene.settings().config
    assert config.mcp == {}
    assert config.options.skills_paths == ("two",)


def test_a_script_can_ask_which_model_is_chosen_also_by_a_file_below_it(scene: Scene) -> None:
    scene.write("crush user", "crush.json", '{"models": {"large": {"provider": "p", "model": "m"}}}')
    scene.write("crush user", "crushrc", 'option initialize-as "$(model large).md"\n')
    assert scene.settings().config.options.initialize_as == "p/m.md"


def test_a_script_can_include_another_and_sees_the_version_and_its_own_directory(scene: Scene) -> None:
    scene.write("crush user", "more.sh", 'option initialize-as "$CRUSH_VERSION-$(basename "$PWD").md"\n')
    scene.write("crush user", "crushrc", "source ./more.sh\n")
    name = scene.settings().config.options.initialize_as
    assert name.endswith("-crush.md")
    assert name[0].isdigit()


def test_a_wrong_word_is_told_with_its_file_and_line_and_the_script_may_see_it_too(scene: Scene) -> None:
    path = scene.write(
        "crush user", "crushrc", "option debug\n\noption debgu || saw=yes\n[[ $saw == yes ]] || exit 9\n"
    )
    with pytest.raises(ConfigProblem) as caught:
        scene.load()
    assert str(caught.value).startswith(f"{path}:3: option debgu: there is no such option")


@pytest.mark.parametrize("text", ["exit 3", "false", "option debug\nif", "nonexistent-command-x"])
def test_a_script_that_fails_is_a_problem_that_names_it(scene: Scene, text: str) -> None:
    path = scene.write("crush user", "crushrc", text)
    with pytest.raises(ConfigProblem, match="ended with") as caught:
        scene.load()
    assert str(caught.value).startswith(str(path))


def test_what_a_failing_script_complains_of_holds_no_secret(scene: Scene) -> None:
    scene.env["MY_SECRET"] = "hunter2hunter2"
    scene.write("crush user", "crushrc", 'echo "bad $MY_SECRET" >&2; exit 1')
    with pytest.raises(ConfigProblem) as caught:
        scene.load()
    assert "bad …" in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_a_script_that_hangs_is_ended_and_the_settings_before_it_stay(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crushrc, "SCRIPT_SECONDS", 0.3)
    before = scene.load()
    scene.write("crush user", "crushrc", "option debug\necho $BASHPID > pid\nexec tail -f /dev/null\n")
    after = reload(before, scene.read())
    assert after.settings == before.settings
    assert "did not end within" in str(after.problem)
    with pytest.raises(ProcessLookupError):
        os.kill(int((scene.places["crush user"] / "pid").read_text()), 0)


def test_something_left_running_in_the_background_does_not_hold_the_loading_up(scene: Scene) -> None:
    path = scene.write("crush user", "crushrc", "tail -f /dev/null > alive &\noption debug\n")
    os.mkfifo(path.parent / "alive")
    alive = os.open(path.parent / "alive", os.O_RDONLY | os.O_NONBLOCK)
    assert scene.settings().config.options.debug
    os.set_blocking(alive, True)
    assert os.read(alive, 1) == b"", "the pipe has an end only when nobody holds it any more"
    os.close(alive)


def test_the_words_mean_nothing_to_the_rest_of_the_machine(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    before = dict(os.environ)
    scene.env["BASH_ENV"] = str(scene.write("user", "evil.sh", "echo run > ran"))
    scene.write("crush user", "crushrc", "export LEAK=1\noption debug\n")
    assert messages(scene.load()) == []
    assert dict(os.environ) == before
    assert not (scene.places["crush user"] / "ran").exists()


def test_many_words_arrive_all_and_in_order(scene: Scene) -> None:
    scene.write("crush user", "crushrc", "for n in $(seq 300); do option skill-path path-$n; done\n")
    assert scene.settings().config.options.skills_paths == tuple(f"path-{number}" for number in range(1, 301))


def test_without_bash_the_script_is_named(scene: Scene) -> None:
    scene.env["PATH"] = str(scene.root)
    scene.write("crush user", "crushrc", "option debug\n")
    with pytest.raises(ConfigProblem, match="needs bash"):
        scene.load()


def test_what_runs_is_the_text_that_was_trusted_and_not_what_the_file_holds_by_now(scene: Scene) -> None:
    path = scene.write("crush user", "crushrc", "touch ran\n")
    document = crushrc.run_script(path, "option debug\n", env=scene.env, below={}, version="1")
    assert document.tree == {"options": {"debug": True}}
    assert not (path.parent / "ran").exists()


def test_a_wrong_word_in_an_included_file_is_told_with_that_file(scene: Scene) -> None:
    more = scene.write("crush user", "more.sh", "\noption nonsense\n")
    scene.write("crush user", "crushrc", "source ./more.sh\n")
    with pytest.raises(ConfigProblem) as caught:
        scene.load()
    assert str(caught.value).startswith(f"{more}:2: option nonsense")
