"""What a model meant by the text of a call."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnkeeper.tools.arguments import Arguments, Unreadable, read_arguments

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "count": {"type": "integer"},
        "ratio": {"type": "number"},
        "all": {"type": "boolean"},
        "names": {"type": "array", "items": {"type": "string"}},
        "edits": {"type": "array", "items": {"type": "object"}},
        "extra": {"anyOf": [{"type": "array"}, {"type": "null"}]},
    },
    "required": ["path"],
}


@pytest.mark.parametrize(
    ("raw", "meant"),
    [
        ('{"path": "a"}', {"path": "a"}),
        ('\ufeff {"path": "a",}\n', {"path": "a"}),
        ("{'path': 'a', 'all': True, 'extra': None}", {"path": "a", "all": True, "extra": None}),
        ('{path: "a", count: 3}', {"path": "a", "count": 3}),
        ('{"path": "a", // why\n "count": 1}', {"path": "a", "count": 1}),
        ('{"path": "a\nb\tc"}', {"path": "a\nb\tc"}),
        ('```json\n{"path": "a"}\n```', {"path": "a"}),
        ('"{\\"path\\": \\"a\\"}"', {"path": "a"}),
        ('{"path": "a", "edits": [{"x": "y"', {"path": "a", "edits": [{"x": "y"}]}),
        ('{"path": "a', {"path": "a"}),
        ('{"path": "a", "names": ["b",', {"path": "a", "names": ["b"]}),
        ('{"path": "True story, None of it {", "all": True}', {"path": "True story, None of it {", "all": True}),
        ('{"path": "a", "edits": "[{\\"x\\": 1}]"}', {"path": "a", "edits": [{"x": 1}]}),
        ('{"path": "a", "names": "b"}', {"path": "a", "names": ["b"]}),
        ('{"path": "a", "count": "3", "ratio": "0.5"}', {"path": "a", "count": 3, "ratio": 0.5}),
        ('{"path": "a", "count": 3.0}', {"path": "a", "count": 3}),
        ('{"path": "a", "all": "true"}', {"path": "a", "all": True}),
        ('{"path": "{\\"not\\": \\"parsed\\"}"}', {"path": '{"not": "parsed"}'}),
        ('{"path": "a", "unknown": [1]}', {"path": "a", "unknown": [1]}),
    ],
)
def test_what_was_meant_is_read(raw: str, meant: dict[str, Any]) -> None:
    read = read_arguments(raw, SCHEMA)
    assert isinstance(read, Arguments), read
    assert read.input == meant


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        ("", "path is required"),
        ("{}", "path is required"),
        ('{"path": 7}', "path must be string"),
        ('{"path": "a", "count": "many"}', "count must be integer"),
        ('{"path": "a", "count": true}', "count must be integer"),
        ('{"path": null, "names": {}}', "path must be string; names must be array"),
        ("[1, 2]", "not a JSON object"),
        ("please run it", "not a JSON object"),
        ("x" * (8 * 1024 * 1024 + 1), "longer than"),
    ],
)
def test_what_cannot_be_read_is_told(raw: str, told: str) -> None:
    read = read_arguments(raw, SCHEMA)
    assert isinstance(read, Unreadable), read
    assert told in read.problem
    assert len(read.problem) < 500


def test_a_repair_is_noted_and_a_call_that_was_right_is_not_touched() -> None:
    right = read_arguments('{"path": "[1, 2,]", "names": ["x"]}', SCHEMA)
    assert right == Arguments({"path": "[1, 2,]", "names": ["x"]})
    mended = read_arguments('{"path": "a", "names": "b"', SCHEMA)
    assert isinstance(mended, Arguments)
    assert mended.repairs == ("it was cut off", "names was read as array")


@given(st.text(max_size=200))
def test_no_text_makes_it_raise(raw: str) -> None:
    assert isinstance(read_arguments(raw, SCHEMA), Arguments | Unreadable)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=9,
)


@given(st.dictionaries(st.text(max_size=5).filter(lambda key: key not in SCHEMA["properties"]), JSON, max_size=4))
def test_every_right_call_comes_through_as_it_is(more: dict[str, Any]) -> None:
    meant = {"path": "a"} | more
    assert read_arguments(json.dumps(meant), SCHEMA) == Arguments(meant)


@given(st.data())
def test_a_call_cut_off_anywhere_is_read_or_told(data: st.DataObject) -> None:
    whole = json.dumps({"path": 'a "b" \\ c', "edits": [{"x": "y, {"}, {"x": "z"}], "count": 12})
    cut = whole[: data.draw(st.integers(0, len(whole) - 1))]
    read = read_arguments(cut, SCHEMA)
    if isinstance(read, Arguments):
        assert 'a "b" \\ c'.startswith(read.input["path"])
