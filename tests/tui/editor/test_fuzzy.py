"""What a few letters mean, among names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnkeeper.tui.editor.fuzzy import Rank, fitting, match, ranked

NAMES = (
    "docs/main/notes.md",
    "src/domain.py",
    "src/main.py",
    "src/mainly.py",
    "main",
    "m/a/i/n.py",
    "src/Main.java",
    "README.md",
)
PATHS = st.lists(st.text("abcAB/._- İß", min_size=1, max_size=12), max_size=20)
QUERIES = st.text("abAB/.İß", min_size=1, max_size=5)


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("main", ["main", "src/main.py", "src/Main.java", "src/mainly.py", "docs/main/notes.md"]),
        ("main.py", ["src/main.py", "src/domain.py"]),
        ("MAIN.PY", ["src/main.py", "src/domain.py"]),
        ("src/main.py", ["src/main.py"]),
        ("readme", ["README.md"]),
        ("smj", ["src/Main.java"]),
        ("main/notes", ["docs/main/notes.md"]),
        ("nothing", []),
    ],
)
def test_the_best_names_come_first(query: str, best: list[str]) -> None:
    assert [found.text for found in ranked(query, NAMES, most=5)][: len(best)] == best
    assert bool(ranked(query, NAMES)) is bool(best)


@pytest.mark.parametrize(
    ("query", "name", "rank"),
    [
        ("main.py", "src/main.py", Rank.EXACT),
        ("SRC/MAIN.PY", "src/main.py", Rank.EXACT),
        ("mai", "src/main.py", Rank.PREFIX),
        ("src/m", "src/main.py", Rank.PREFIX),
        ("core", "src/core/main.py", Rank.SEGMENT),
        ("smp", "src/main.py", Rank.FUZZY),
    ],
)
def test_each_way_to_fit_has_its_rank(query: str, name: str, rank: Rank) -> None:
    found = match(query, name)
    assert found is not None
    assert found.rank is rank


def test_nothing_typed_fits_everything_in_its_order_up_to_the_limit() -> None:
    assert [found.text for found in ranked("", NAMES, most=3)] == list(NAMES[:3])


@given(QUERIES, PATHS)
def test_what_is_found_has_the_letters_where_it_says(query: str, paths: list[str]) -> None:
    for found in ranked(query, paths):
        assert "".join(found.text[at] for at in found.at).lower() == query.lower() or "İ" in query
        assert len(found.at) == len(query)
        assert list(found.at) == sorted(set(found.at))


@given(QUERIES, PATHS)
def test_a_name_is_found_exactly_when_it_has_the_letters_in_order(query: str, paths: list[str]) -> None:
    def has(name: str) -> bool:
        letters = iter(name)
        return all(any(a == b or (len(a.lower()) == 1 and a.lower() == b.lower()) for b in letters) for a in query)

    assert sorted(found.text for found in ranked(query, paths)) == sorted(name for name in paths if has(name))


@given(QUERIES, QUERIES, PATHS)
def test_a_longer_query_only_chooses_from_what_fitted_the_shorter(first: str, more: str, paths: list[str]) -> None:
    assert list(fitting(first + more, paths)) == list(fitting(first + more, fitting(first, paths)))


@given(QUERIES, st.permutations(NAMES))
def test_the_order_of_the_names_does_not_matter(query: str, names: list[str]) -> None:
    assert ranked(query, names) == ranked(query, NAMES)
