"""Every spelling of an instruction file counts, every file once, and the order is always the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnkeeper.core.contextfiles import CONTEXT_NAMES, FILES_MAX, Listed, context_files


def listed(*paths: str) -> list[Listed]:
    return [Listed(path, identity=path) for path in paths]


@pytest.mark.parametrize("name", ["agents.md", "Agents.md", "AGENTS.md", "crush.md", "Crush.local.md", "gemini.md"])
def test_a_file_alone_is_found_however_it_is_spelled(name: str) -> None:
    assert context_files(listed("README.md", name)) == (name,)


def test_two_spellings_are_two_files_unless_they_are_the_same_one() -> None:
    assert context_files(listed("agents.md", "AGENTS.md")) == ("AGENTS.md", "agents.md")
    same = [Listed("agents.md", "1:7"), Listed("AGENTS.md", "1:7"), Listed("CLAUDE.md", "1:7")]
    assert context_files(same) == ("AGENTS.md",)


def test_everything_in_a_directory_of_rules_counts_in_the_order_of_its_paths() -> None:
    found = context_files(listed(".cursor/rules/b/a.md", ".cursor/rules/b.md", ".cursor/rules/a.md", ".cursor/other"))
    assert found == (".cursor/rules/a.md", ".cursor/rules/b.md", ".cursor/rules/b/a.md")


def test_what_was_configured_counts_besides_the_usual_names() -> None:
    listing = listed("docs/style.md", "docs/other.md", "rules/deep/a.md", "/home/ada/own.md", "AGENTS.md")
    found = context_files(listing, configured=["./docs/Style.md", "rules", "/home/ada/own.md", " ", "AGENTS.md"])
    assert found == ("/home/ada/own.md", "AGENTS.md", "docs/style.md", "rules/deep/a.md")


@given(st.permutations(listed("CLAUDE.md", "agents.md", "AGENTS.md", ".cursorrules", "é.md", "GEMINI.md")))
def test_the_order_of_the_listing_does_not_show(listing: list[Listed]) -> None:
    expected = (".cursorrules", "AGENTS.md", "CLAUDE.md", "GEMINI.md", "agents.md", "é.md")
    assert context_files(listing, configured=["é.md"]) == expected


def test_there_is_a_limit_to_how_many_count() -> None:
    assert len(context_files(listed(*(f".cursor/rules/{n}" for n in range(FILES_MAX + 5))))) == FILES_MAX


def test_every_usual_name_is_found() -> None:
    listing = listed(*(name + "a.md" if name.endswith("/") else name for name in CONTEXT_NAMES))
    assert len(context_files(listing)) == len(CONTEXT_NAMES)
