"""`turnkeeper config`: looked at, changed, checked and trusted without a server."""

import json
from pathlib import Path

import jsonschema_rs
import pytest

from tests.cli.alone import Alone, alone
from turnkeeper.settings.dirs import find_data_dir


@pytest.fixture
def at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Alone:
    return alone(tmp_path, monkeypatch)


def test_a_value_is_printed_plainly_whether_somebody_set_it_or_it_has_its_default(at: Alone) -> None:
    assert at.tk("config", "get", "waits.connect_seconds").out == "10\n"
    at.write(at.everywhere, "[waits]\nconnect_seconds = 2.5\n[options]\ndisabled_tools = ['bash']\n")
    assert at.tk("config", "get", "waits.connect_seconds").out == "2.5\n"
    assert at.tk("config", "get", "options.disabled_tools").out == '["bash"]\n'
    assert at.tk("config", "get", "options.disabled_tools.0").out == "bash\n"
    assert "connect_seconds = 2.5" in at.lines("config", "get", "waits")
    assert at.tk("config", "get", "waits", "--json").json()["connect_seconds"] == 2.5


def test_what_was_set_is_listed_with_the_place_where_it_was_said(at: Alone) -> None:
    nothing = at.tk("config")
    assert (nothing.out, "everything has its default" in nothing.err) == ("", True)
    at.write(at.everywhere, "\n[waits]\nconnect_seconds = 2\n")
    heading, row = at.lines("config", "get")
    assert heading.split() == ["KEY", "FROM", "VALUE"]
    assert row.split() == ["waits.connect_seconds", f"{at.everywhere}:3", "2"]
    assert at.tk("config", "--json").json() == [
        {"key": "waits.connect_seconds", "value": 2, "source": f"{at.everywhere}:3"}
    ]
    whole = {line.split()[0]: line.split()[1] for line in at.lines("config", "get", "--all")}
    assert whole["waits.first_token_seconds"] == "default"


def test_a_key_that_nobody_knows_is_a_mistake_and_one_that_is_not_set_is_an_answer(at: Alone) -> None:
    strange = at.tk("config", "get", "waits.conect_seconds")
    assert (strange.code, strange.err) == (
        2,
        "turnkeeper: waits.conect_seconds is not a key; did you mean connect_seconds?\n",
    )
    unset = at.tk("config", "get", "models.large.model")
    assert (unset.code, unset.err) == (1, "turnkeeper: models.large.model is not set\n")


def test_a_secret_is_never_printed(at: Alone) -> None:
    at.write(at.everywhere, '[providers.mine]\nbase_url = "http://x"\napi_key = "very-confidential"\n')
    for words in (("config",), ("config", "get", "providers.mine"), ("config", "get", "providers.mine.api_key")):
        for more in ((), ("--json",)):
            said = at.tk(*words, *more)
            assert (said.code, "confidential" in said.out + said.err) == (0, False)


@pytest.mark.parametrize(("value", "written"), [("5", "5"), ("2.5", "2.5")])
def test_a_number_is_set_as_a_number(at: Alone, value: str, written: str) -> None:
    assert at.tk("config", "set", "waits.connect_seconds", value).code == 0
    assert at.workspace.read_text().splitlines()[-1] == f"connect_seconds = {written}"


def test_what_is_no_toml_is_a_text_and_so_is_a_number_where_a_text_belongs(at: Alone) -> None:
    at.tk("config", "set", "--everywhere", "options.initialize_as", "NOTES.md")
    at.tk("config", "set", "--everywhere", "env.WORKERS", "30")
    at.tk("config", "set", "--everywhere", "options.disabled_tools", '["bash", "edit"]')
    assert at.tk("config", "get", "options.initialize_as").out == "NOTES.md\n"
    assert 'WORKERS = "30"' in at.everywhere.read_text()
    assert at.tk("config", "get", "options.disabled_tools", "--json").json() == ["bash", "edit"]


def test_each_place_has_its_file_and_comments_in_it_stay(at: Alone) -> None:
    project = at.write(at.project / "turnkeeper.toml", "# ours\n[log]\nlevel = 'info' # for now\n")
    for place, file in (("everywhere", at.everywhere), ("project", project), ("workspace", at.workspace)):
        assert at.tk("config", "path", f"--{place}").out == f"{file}\n"
        said = at.tk("config", "set", f"--{place}", "log.level", "debug")
        assert said.err.startswith(f"log.level is set in {file}.\n")
        assert 'level = "debug"' in file.read_text()
    assert project.read_text().startswith("# ours\n")
    assert oct(at.everywhere.stat().st_mode & 0o777) == "0o600"


def test_whoever_sets_a_key_learns_that_a_stronger_file_says_otherwise(at: Alone) -> None:
    at.tk("config", "set", "log.level", "debug")
    said = at.tk("config", "set", "--everywhere", "log.level", "error")
    assert f"{at.workspace}:2 also sets it, and is believed over this file." in said.err
    removed = at.tk("config", "unset", "log.level")
    assert f"{at.everywhere}:2 also sets it, and that holds now." in removed.err
    assert at.tk("config", "get", "log.level").out == "error\n"


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("waits.connect_seconds", "soon", "a number from 0.001 to 86,400 was expected"),
        ("waits.connect_seconds", "-1", "a number from 0.001 to 86,400 was expected"),
        ("waits.conect_seconds", "5", "did you mean connect_seconds?"),
        ("no.such.key", "5", "no is not a key"),
        ("log.level", "loud", '"debug" or "error"'),
    ],
)
def test_what_cannot_be_used_is_not_written(at: Alone, key: str, value: str, why: str) -> None:
    said = at.tk("config", "set", key, "--", value)
    assert (said.code, why in said.err, at.workspace.exists()) == (2, True, False)


def test_a_secret_is_not_taken_from_the_command_line_but_from_where_nobody_looks(at: Alone) -> None:
    key = "providers.openai.api_key"
    refused = at.tk("config", "set", "--everywhere", key, "sk-0123456789")
    assert (refused.code, "can be seen by others" in refused.err) == (2, True)
    assert "sk-0123456789" not in refused.err
    assert at.tk("config", "set", "--everywhere", key, "$MY_KEY").code == 0
    piped = at.tk("config", "set", "--everywhere", key, "-", stdin="sk-0123456789\n")
    assert (piped.code, "sk-0123456789" in piped.out + piped.err) == (0, False)
    assert 'api_key = "sk-0123456789"' in at.everywhere.read_text()


def test_all_that_is_wrong_is_told_with_file_line_and_key_and_the_code_says_so(at: Alone) -> None:
    assert at.tk("config", "check").code == 0
    file = at.write(at.project / "turnkeeper.toml", "[waits]\nconnect_seconds = 'x'\n[log]\nlevel = 3\n")
    said = at.tk("config", "check")
    assert (said.code, said.err.splitlines()) == (
        2,
        [
            f"{file}:2: waits.connect_seconds: a number from 0.001 to 86,400 was expected, not a text",
            f'{file}:4: log.level: "debug" or "error" or "info" or "warning" was expected, not 3',
        ],
    )
    assert len(at.tk("config", "check", "--json").json()["wrong"]) == 2
    assert at.tk("config", "check", "turnkeeper.toml").code == 2
    at.write(file, "[wait]\nconnect_seconds = 3\n")
    strange = at.tk("config", "check", str(file))
    assert (strange.code, strange.err.splitlines()[0]) == (
        0,
        f"{file}:1: wait is not known and was ignored; did you mean waits?",
    )
    assert at.tk("config", "check", "nowhere.toml").code == 2


def test_the_schema_is_printed_and_accepts_what_is_written_by_us(at: Alone) -> None:
    schema = at.tk("config", "schema").json()
    jsonschema_rs.validator_for(schema).validate({"waits": {"connect_seconds": 3}})
    with pytest.raises(jsonschema_rs.ValidationError):
        jsonschema_rs.validator_for(schema).validate({"waits": {"conect_seconds": 3}})


def test_the_files_that_are_read_are_listed_the_strongest_last(at: Alone) -> None:
    assert at.tk("config", "path").out == ""
    at.write(at.project / "crush.json", "{}")
    at.write(at.everywhere, "")
    at.write(at.workspace, "")
    assert at.lines("config", "path") == [str(at.everywhere), str(at.project / "crush.json"), str(at.workspace)]
    states = {one["path"]: one["state"] for one in at.tk("config", "path", "--json").json()}
    assert (states[str(at.everywhere)], states[str(at.project / ".crushrc")]) == ("read", "-")


def test_what_a_project_wants_to_run_waits_is_shown_and_is_trusted_when_somebody_is_sure(at: Alone) -> None:
    script = at.write(at.project / "crushrc", "option debug true\n")
    hooks = at.write(at.project / "crush.json", '{"hooks": {"PreToolUse": [{"command": "true"}]}}')
    (waiting, other) = sorted(at.tk("config", "trust", "--json").json(), key=lambda one: one["path"])
    assert (waiting["path"], waiting["keys"], other["path"]) == (str(hooks), ["hooks.PreToolUse"], str(script))
    unsure = at.tk("config", "trust")
    assert (unsure.code, "option debug true" in unsure.err, "hooks.PreToolUse" in unsure.err) == (2, True, True)
    assert at.tk("config", "get", "options.debug").out == "false\n"
    assert at.tk("config", "trust", "--yes", "crushrc").err.endswith(f"Trusted: {script}.\n")
    assert at.tk("config", "get", "options.debug").out == "true\n"
    assert [one["path"] for one in at.tk("config", "trust", "--json").json()] == [str(hooks)]
    assert at.tk("config", "trust", "--revoke", "crushrc").code == 0
    assert at.tk("config", "get", "options.debug").out == "false\n"


def test_a_file_is_edited_with_the_persons_editor_and_checked_afterwards(at: Alone) -> None:
    editor = at.write(at.home / "editor", "#!/bin/sh\nprintf '[log]\\nlevel = 1\\n' > \"$2\"\n")
    editor.chmod(0o700)
    at.patch.setenv("EDITOR", f"{editor} --wait")
    said = at.tk("config", "edit", "--everywhere")
    assert (said.code, said.err.startswith(f"{at.everywhere}:2: log.level: ")) == (2, True)
    at.patch.setenv("VISUAL", "true")
    assert at.tk("config", "edit", "--workspace").code == 0
    assert at.workspace.read_text().startswith("# Turnkeeper's settings.")
    at.patch.setenv("VISUAL", "no-such-editor")
    assert "set EDITOR to another" in at.tk("config", "edit").err


def test_the_directory_may_be_another_and_so_may_its_data(at: Alone) -> None:
    (at.home / "other").mkdir()
    at.tk("config", "set", "--cwd", str(at.home / "other"), "log.level", "debug")
    assert (find_data_dir(at.home / "other") / "turnkeeper.toml").is_file()
    at.tk("config", "set", "--data-dir", "elsewhere", "log.level", "error")
    assert (at.project / "elsewhere" / "turnkeeper.toml").is_file()
    assert at.tk("config", "get", "log.level", "--data-dir", "elsewhere").out == "error\n"
    assert at.tk("config", "get", "log.level").out == "info\n"


def test_json_is_one_document_from_every_command_that_prints(at: Alone) -> None:
    for words in (("get",), ("get", "log"), ("check",), ("path",), ("trust",)):
        json.loads(at.tk("config", *words, "--json").out)
