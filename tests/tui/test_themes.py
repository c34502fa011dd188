"""Themes, signs and settings: what a terminal looks like, and what it says of what it cannot read."""

import msgspec
import pytest

from turnkeeper.protocol.config import Config, Options, TUIOptions
from turnkeeper.tui.glyphs import ASCII, BY_NAME, UNICODE, glyphs_for
from turnkeeper.tui.keymap import BY_ID, KEYS, moved, wrong_keys
from turnkeeper.tui.settings import Settings, settings_of
from turnkeeper.tui.themes import DARK, LIGHT, all_themes, chosen, own_theme, wrong_themes


def test_there_are_themes_for_light_and_for_dark_rooms() -> None:
    themes = all_themes({}).values()
    assert sum(theme.dark for theme in themes) >= 6
    assert sum(not theme.dark for theme in themes) >= 3


@pytest.mark.parametrize(
    ("said", "wanted"),
    [("", DARK), ("15;0", DARK), ("0;15", LIGHT), ("0;default;15", LIGHT), ("0;7", LIGHT), ("7;8", DARK), ("x", DARK)],
)
def test_by_itself_the_theme_follows_the_terminal(said: str, wanted: object) -> None:
    known = all_themes({})
    assert known[chosen("auto", known, {"COLORFGBG": said})] is wanted


def test_a_theme_of_ones_own_is_ours_with_other_colours() -> None:
    mine = all_themes({"mine": {"primary": "#ff0000", "dark": "false"}})["mine"]
    assert (mine.primary, mine.dark, mine.background) == ("#ff0000", False, LIGHT.background)
    assert chosen("mine", {"mine": mine}, {}) == "mine"


def test_a_theme_that_cannot_be_read_is_left_out_and_said() -> None:
    own = {"a": {"primary": "no colour"}, "b": {"prmary": "#fff"}}
    assert not {"a", "b"} & set(all_themes(own))
    first, second = wrong_themes(own)
    assert "theme a: primary is no colour: no colour" in first
    assert "theme b: there is no colour prmary" in second


def test_everything_a_theme_may_say_is_a_colour_of_it() -> None:
    assert own_theme("x", {"boost": "#123456"}) != ""
    assert isinstance(own_theme("x", {"frame": "#123456"}), str)


def test_signs_follow_the_language_of_the_terminal_unless_somebody_wished() -> None:
    assert glyphs_for("", {"LANG": "en_US.UTF-8"}) is UNICODE
    assert glyphs_for("", {"LANG": "C"}) is ASCII
    assert glyphs_for("", {"LANG": "en_US.UTF-8", "TERM": "linux"}) is ASCII
    assert glyphs_for("unicode", {"LANG": "C"}) is UNICODE


def test_what_python_makes_of_a_plain_language_says_nothing_of_the_terminal() -> None:
    assert glyphs_for("", {"LANG": "C", "LC_CTYPE": "C.UTF-8"}) is ASCII
    assert glyphs_for("", {"LANG": "en_GB.UTF-8", "LC_CTYPE": "C.UTF-8"}) is UNICODE
    assert glyphs_for("", {"LC_CTYPE": "de_DE.UTF-8"}) is UNICODE


def test_the_plain_alphabet_is_plain() -> None:
    for name in ASCII.__dataclass_fields__:
        assert "".join(getattr(ASCII, name)).isascii()
    assert set(BY_NAME) == {"unicode", "ascii"}


def test_settings_come_from_the_configuration_and_have_defaults() -> None:
    assert settings_of(Config()) == Settings()
    tui = TUIOptions(theme="nord", compact_mode=True, diff_mode="split", vim=True, keys={"app.help": "f2"})
    read = settings_of(Config(options=Options(tui=tui, notifications="bell", progress=False)))
    assert (read.theme, read.compact, read.split_diffs, read.vim) == ("nord", True, True, True)
    assert (read.keys, read.notifications, read.progress) == ({"app.help": "f2"}, "bell", False)


def test_what_a_client_of_the_original_is_told_has_no_keys_it_was_not_told_before() -> None:
    assert msgspec.json.encode(TUIOptions()) == b"{}"


def test_the_key_map_says_each_thing_once_and_a_wrong_row_is_said() -> None:
    assert len(BY_ID) == len(KEYS)
    assert moved({"app.help": "f2", "app.nothing": "f3", "app.new": " "}) == {"app.help": "f2"}
    assert list(wrong_keys({"app.nothing": "f3"})) == [
        "keys: there is no app.nothing in the key map; 'help' lists what there is"
    ]
