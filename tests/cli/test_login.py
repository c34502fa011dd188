"""`turnkeeper login` and `logout`: keys come in unseen, are kept for their owner alone, and go again."""

import os
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from tests.cli.alone import Alone, alone
from turnkeeper.settings.expansion import expand
from turnkeeper.settings.load import load

KEY = "sk-0123456789abcdef"

KEYRING = """
import json, os, sys
from pathlib import Path
STORE = Path(os.environ["HOME"]) / "vault.json"
class errors:
    class PasswordDeleteError(Exception): ...
class Ring:
    priority = 5
def get_keyring(): return Ring()
def _all(): return json.loads(STORE.read_text()) if STORE.exists() else {}
def set_password(service, name, key): STORE.write_text(json.dumps(_all() | {f"{service}/{name}": key}))
def get_password(service, name): return _all().get(f"{service}/{name}")
def delete_password(service, name):
    known = _all()
    if known.pop(f"{service}/{name}", None) is None:
        raise errors.PasswordDeleteError
    STORE.write_text(json.dumps(known))
"""
COMMAND = "import sys, keyring\nprint(keyring.get_password(*sys.argv[2:]))\n"


@pytest.fixture
def at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Alone:
    return alone(tmp_path, monkeypatch)


@pytest.fixture
def vault(at: Alone) -> Path:
    """A keyring that keeps what it is given in a file."""
    package = at.home / "site" / "keyring"
    at.write(package / "__init__.py", KEYRING)
    at.write(package / "__main__.py", COMMAND)
    at.patch.syspath_prepend(str(package.parent))  # pyright: ignore[reportUnknownMemberType]
    at.patch.setenv("PYTHONPATH", str(package.parent))
    at.patch.delitem(sys.modules, "keyring", raising=False)
    return at.home / "vault.json"


def key_of(at: Alone, provider: str) -> str:
    """What a server would send."""
    template = load(at.project, env=os.environ).settings.config.providers[provider].api_key
    return anyio.run(lambda: expand(template, env=os.environ, workdir=at.project))


def test_a_key_is_kept_in_a_file_that_only_its_owner_reads_and_is_printed_nowhere(at: Alone) -> None:
    said = at.tk("login", "anthropic", "--file", stdin=f"{KEY}\n")
    assert (said.code, str(at.keys) in said.err, KEY in said.out + said.err) == (0, True, False)
    assert oct(at.keys.stat().st_mode & 0o777) == "0o600"
    assert key_of(at, "anthropic") == KEY


@pytest.mark.parametrize("key", ["sk-$HOME-x", "a$(id)b", "it's$x", "`id`$x", '"q"$x', "plain'quote"])
def test_a_key_is_sent_as_it_was_given_whatever_letters_it_has(at: Alone, key: str) -> None:
    assert at.tk("login", "openai", "--file", stdin=key).code == 0
    assert key_of(at, "openai") == key


def test_where_there_is_a_keyring_it_keeps_the_key_and_no_file_does(at: Alone, vault: Path) -> None:
    said = at.tk("login", "openai", stdin=KEY)
    assert "the keyring of this system" in said.err
    assert (KEY in vault.read_text(), KEY in at.keys.read_text()) == (True, False)
    assert key_of(at, "openai") == KEY
    assert at.tk("logout", "openai").err == "Forgot the key of openai.\n"
    assert KEY not in vault.read_text()


def test_a_key_in_a_file_takes_the_place_of_one_in_the_keyring(at: Alone, vault: Path) -> None:
    at.tk("login", "openai", stdin="the-old-one")
    at.tk("login", "openai", "--file", stdin=KEY)
    assert (key_of(at, "openai"), "the-old-one" in vault.read_text()) == (KEY, False)


def test_a_keyring_that_is_wanted_and_not_there_is_a_mistake(at: Alone) -> None:
    at.patch.setitem(sys.modules, "keyring", None)
    said = at.tk("login", "openai", "--keyring", stdin=KEY)
    assert (said.code, "there is no keyring here" in said.err, at.keys.exists()) == (2, True, False)


@pytest.mark.parametrize("key", ["", "  \n", "two words", "tab\tinside", "line\nbreak", "bell\x07"])
def test_what_is_no_key_is_refused_and_not_repeated(at: Alone, key: str) -> None:
    said = at.tk("login", "openai", "--file", stdin=key)
    assert (said.code, "that is no key" in said.err, at.keys.exists()) == (2, True, False)


def test_a_provider_is_meant_in_any_case_and_a_wrong_one_suggested(at: Alone) -> None:
    assert at.tk("login", "OpenAI", "--file", "--json", stdin=KEY).json()["provider"] == "openai"
    said = at.tk("login", "antropic", stdin=KEY)
    assert (said.code, "did you mean anthropic?" in said.err) == (2, True)
    assert at.tk("login", stdin=KEY).code == 2
    at.write(at.everywhere, '[providers.mine]\nbase_url = "http://localhost:1/v1"\n')
    assert at.tk("login", "mine", "--file", stdin=KEY).code == 0


def test_the_known_providers_are_listed_with_what_is_known_of_their_keys(at: Alone) -> None:
    at.tk("login", "anthropic", "--file", stdin=KEY)
    at.patch.setenv("GROQ_API_KEY", "x")
    known = {one["provider"]: one["key"] for one in at.tk("login", "--list", "--json").json()}
    assert (known["anthropic"], known["groq"], known["openai"]) == ("kept here", "from the variable", "")


def test_a_key_is_forgotten_with_all_that_stood_around_it(at: Alone) -> None:
    at.write(at.keys, "# kept\n[log]\nlevel = 'debug'\n")
    at.tk("login", "openai", "--file", stdin=KEY)
    at.tk("login", "groq", "--file", stdin=KEY)
    several = at.tk("logout")
    assert (several.code, "groq, openai" in several.err) == (2, True)
    assert at.tk("logout", "groq", "--json").json() == {"forgotten": ["groq"]}
    assert at.tk("logout").err == "Forgot the key of openai.\n"
    assert load(at.project, env=os.environ).settings.config.providers == {}
    assert at.keys.read_text().startswith("# kept\n[log]\nlevel = 'debug'\n")
    assert at.tk("logout").err == "No such key is kept here.\n"
    assert at.tk("logout", "openai").code == 1


def test_a_variable_that_holds_a_key_too_is_told_of(at: Alone) -> None:
    at.patch.setenv("OPENAI_API_KEY", "x")
    at.tk("login", "openai", "--file", stdin=KEY)
    assert "OPENAI_API_KEY is set, and goes on to be used for openai." in at.tk("logout", "openai").err


def test_no_command_takes_a_key_as_an_argument(at: Alone) -> None:
    said = subprocess.run(
        [sys.executable, "-m", "turnkeeper", "login", "openai", KEY], capture_output=True, text=True, check=False
    )
    assert (said.returncode, "unexpected extra argument" in said.stderr) == (2, True)
