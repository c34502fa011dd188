"""What a value with a `$` in it becomes, and what is said when it cannot become anything."""

import os
from contextlib import suppress
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as some

from turnkeeper.settings import expansion
from turnkeeper.settings.expansion import (
    CommandWanted,
    ExpansionFailed,
    expand,
    expand_without_commands,
    has_command,
    scrubbed,
)

ENV = {"A": "one", "EMPTY": "", "PATH": os.environ["PATH"], "MY_API_KEY": "sk-very-secret"}
HERE = Path("/")


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("plain", "plain"),
        ('it\'s "plain" \\ and `quoted`', 'it\'s "plain" \\ and `quoted`'),
        ("", ""),
        ("$A", "one"),
        ("${A}", "one"),
        ("<$A>", "<one>"),
        ("$A$A", "oneone"),
        ("Bearer ${A}.x", "Bearer one.x"),
        ("$UNSET|", "|"),
        ("${UNSET}", ""),
        ("${UNSET:-else}", "else"),
        ("${EMPTY:-else}", "else"),
        ("${EMPTY-else}", ""),
        ("${A:-else}", "one"),
        ("${UNSET:-$A}", "one"),
        ("${UNSET:-${EMPTY:-deep}}", "deep"),
        ("${A:+then}", "then"),
        ("${EMPTY:+then}", ""),
        ("${EMPTY+then}", "then"),
        ("${UNSET+then}", ""),
        ("${A:?must be set}", "one"),
        ("${EMPTY?may be empty}", ""),
        ("'$A' $A", "$A one"),
        ('"$A x"', "one x"),
        ("\"'$A'\"", "'one'"),
        ("\\$A $A", "$A one"),
        ('"\\$A" $A', "$A one"),
        ("$A *.py  two", "one *.py  two"),
    ],
)
async def test_a_template_becomes_what_a_shell_makes_of_it(template: str, value: str) -> None:
    assert await expand(template, env=ENV, workdir=HERE) == value
    assert expand_without_commands(template, ENV) == value


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("$(echo one)", "one"),
        ("<$(printf 'a\\nb\\n\\n')>", "<a\nb>"),
        ('$(echo "a)b")', "a)b"),
        ("$(echo $(echo deep))", "deep"),
        ("$(echo $A)", "one"),
        ('"$(echo a   b)"', "a b"),
        ("${UNSET:-$(echo made)}", "made"),
        ("$A`echo two`", "onetwo"),
        ("$(pwd)", "/"),
        ("$(printf ' a \\n\\n')", " a "),
        ("$(cat)", ""),
    ],
)
async def test_a_command_is_replaced_by_what_it_says(template: str, value: str) -> None:
    with anyio.fail_after(5):
        assert await expand(template, env=ENV, workdir=HERE) == value
    with pytest.raises(CommandWanted):
        expand_without_commands(template, ENV)


@pytest.mark.parametrize(
    "template",
    ["$", "a $ b", "$1", "$$", "${", "${A", "${}", "${A!x}", "${A:=x}", "$(echo", "$((1+1))", "'$A", '"$A', "$A\\"],
)
async def test_what_is_no_template_is_refused_by_its_name(template: str) -> None:
    with pytest.raises(ExpansionFailed) as caught:
        await expand(template, env=ENV, workdir=HERE)
    assert repr(template) in str(caught.value)


async def test_a_variable_that_must_be_set_says_why() -> None:
    with pytest.raises(ExpansionFailed, match="KEY_X: ask your admin"):
        await expand("${KEY_X:?ask your admin}", env=ENV, workdir=HERE)
    with pytest.raises(ExpansionFailed, match="KEY_X: is not set"):
        await expand("${KEY_X:?}", env=ENV, workdir=HERE)


async def test_a_command_in_a_branch_not_taken_is_not_run(tmp_path: Path) -> None:
    template = "${A:-$(touch made)}${UNSET:+$(touch made)}"
    assert await expand(template, env=ENV, workdir=tmp_path) == "one"
    assert not (tmp_path / "made").exists()
    assert has_command(template)


async def test_a_failing_command_is_told_by_its_template_and_complaint_without_a_secret() -> None:
    with pytest.raises(ExpansionFailed) as caught:
        await expand("$(echo no $MY_API_KEY >&2; exit 3)", env=ENV, workdir=HERE)
    assert str(caught.value) == "cannot expand '$(echo no $MY_API_KEY >&2; exit 3)': its command ended with 3: no …"


async def test_what_a_command_complains_of_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ExpansionFailed) as caught:
        await expand("$(head -c 9000 /dev/zero | tr '\\0' 'é' >&2; false)", env=ENV, workdir=HERE)
    assert len(str(caught.value).rpartition(": ")[2].encode()) <= expansion.COMPLAINT_BYTES_MAX
    assert scrubbed("a\x1b[31m\n\tb", {}) == "a [31m b"


async def test_a_command_that_hangs_is_ended_with_all_that_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expansion, "COMMAND_SECONDS", 0.2)
    with anyio.fail_after(5), pytest.raises(ExpansionFailed, match="did not end within"):
        await expand("$(echo $$ > pid; exec tail -f /dev/null)", env=ENV, workdir=tmp_path)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


async def test_a_command_that_talks_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with anyio.fail_after(5), pytest.raises(ExpansionFailed, match="said more than"):
        await expand("$(head -c 70000 /dev/zero | tr '\\0' x)", env=ENV, workdir=HERE)


async def test_only_the_environment_that_was_given_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OURS", "leaked")
    before = dict(os.environ)
    assert await expand("[$OURS][$(echo $OURS)]", env={"PATH": os.environ["PATH"]}, workdir=HERE) == "[][]"
    assert dict(os.environ) == before


@given(some.text().filter(lambda text: "$" not in text))
def test_a_text_without_a_dollar_is_itself(text: str) -> None:
    assert expand_without_commands(text, {}) == text
    assert not has_command(text)


@given(some.text(alphabet="$A{}()'\"`\\:-+? \n"))
def test_every_text_is_expanded_or_refused_and_never_anything_else(text: str) -> None:
    with suppress(ExpansionFailed):
        assert isinstance(expand_without_commands(text, ENV), str)
    assert has_command(text) in (True, False)
