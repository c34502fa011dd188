"""The frame everything travels in: one line, three objects in one another, times as the original spells them."""

import json
from datetime import UTC, timedelta, timezone

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnkeeper.protocol.problems import BadRequest
from turnkeeper.protocol.wire import NEVER, answer, encode, envelope, frame, number, rfc3339, unix_seconds
from turnkeeper.protocol.wire_events import ConfigChanged

ANY_TEXT = st.text(st.characters(), max_size=20)
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda held: st.lists(held, max_size=4) | st.dictionaries(ANY_TEXT, held, max_size=4),
    max_leaves=12,
)


def test_an_envelope_is_three_objects_in_one_another_and_no_string() -> None:
    line = envelope("config_changed", "updated", ConfigChanged("9a7f"))
    assert line == b'{"type":"config_changed","payload":{"type":"updated","payload":{"workspace_id":"9a7f"}}}'


def test_a_payload_that_was_encoded_before_goes_in_as_it_is() -> None:
    encoded = msgspec.Raw(encode(ConfigChanged("w")))
    assert envelope("config_changed", "updated", encoded) == envelope("config_changed", "updated", ConfigChanged("w"))


def test_without_a_position_the_bytes_of_an_event_are_the_originals() -> None:
    assert frame(b"{}") == b"data: {}\n\n"


def test_with_a_position_the_event_begins_with_its_id() -> None:
    assert frame(b"{}", position=42) == b"id: 42\ndata: {}\n\n"


def test_an_answer_ends_with_a_newline() -> None:
    assert answer({"skip": True}) == b'{"skip":true}\n'
    assert answer(2) == b"2\n"
    assert answer(None) == b"null\n"


@given(ANY_JSON)
def test_whatever_is_said_fits_on_one_line_of_json_in_utf_8(value: object) -> None:
    line = encode(value)
    assert b"\n" not in line
    assert b"\r" not in line
    json.loads(line.decode("utf-8"))


def test_half_a_character_becomes_the_replacement_character() -> None:
    assert encode({"text": "a\ud800b"}) == '{"text":"a\ufffdb"}'.encode()
    assert encode(ConfigChanged("\ud83d\ude00")) == '{"workspace_id":"😀"}'.encode()


@pytest.mark.parametrize(
    ("seconds", "zone", "text"),
    [
        (0, UTC, NEVER),
        (-1, UTC, NEVER),
        (1767362645, UTC, "2026-01-02T14:04:05Z"),
        (1767362645, timezone(timedelta(hours=1)), "2026-01-02T15:04:05+01:00"),
    ],
)
def test_a_moment_is_told_in_the_servers_zone_and_never_is_the_year_one(
    seconds: int, zone: timezone, text: str
) -> None:
    assert rfc3339(seconds, zone) == text
    assert unix_seconds(text) == max(0, seconds)


def test_a_moment_that_is_none_is_refused_and_an_empty_one_is_never() -> None:
    assert unix_seconds("") == 0
    with pytest.raises(BadRequest, match="RFC 3339"):
        unix_seconds("yesterday")


def test_a_whole_number_is_written_without_a_fraction() -> None:
    assert encode([number(0.0), number(3.0), number(0.25)]) == b"[0,3,0.25]"
