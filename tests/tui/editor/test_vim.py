"""Writing as in vi: which keys do what. `|` is the cursor; upper-case INSERT and VISUAL behind a text are its mode."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnkeeper.tui.editor.vim import Done, Mode, Vim, left_insert, pressed

KEYS = [*"hjklwbe0^$gGdcyxDCpPuiaIAoOv123 z", "escape", "ctrl+r"]


def after(keys: str, scene: str) -> Done:
    """What becomes of a text in normal mode; `~` stands for esc, `&` for ctrl+r, and INSERT ends the keys."""
    done = Done(Vim(Mode.NORMAL), scene.replace("|", "", 1), scene.index("|"))
    for key in keys:
        named = {"~": "escape", "&": "ctrl+r"}.get(key, key)
        if done.vim.mode is Mode.INSERT:
            done = left_insert(done.vim, done.text, done.at) if named == "escape" else typed(done, key)
        else:
            done = pressed(done.vim, done.text, done.at, named)
    return done


def typed(done: Done, letter: str) -> Done:
    return Done(done.vim, done.text[: done.at] + letter + done.text[done.at :], done.at + 1)


def shown(done: Done) -> str:
    mode = "" if done.vim.mode is Mode.NORMAL else f" {done.vim.mode.upper()}"
    return f"{done.text[: done.at]}|{done.text[done.at :]}{mode}"


@pytest.mark.parametrize(
    ("keys", "before", "then"),
    [
        # Moving
        ("h", "ab|c", "a|bc"),
        ("h", "ab\n|c", "ab\n|c"),
        ("5h", "abc|d", "|abcd"),
        ("l", "|abc", "a|bc"),
        ("9l", "|abc\nd", "ab|c\nd"),
        ("j", "ab|c\ndef", "abc\nde|f"),
        ("j", "abc|d\nx\nabcd", "abcd\n|x\nabcd"),
        ("jj", "abc|d\nx\nabcd", "abcd\nx\nabc|d"),
        ("9j", "|a\nb\nc", "a\nb\n|c"),
        ("k", "abc\nde|f", "ab|c\ndef"),
        ("k", "a|bc", "a|bc"),
        ("2k", "a\nb\n|c", "|a\nb\nc"),
        ("w", "|one two", "one |two"),
        ("w", "|one.two", "one|.two"),
        ("2w", "|one.two", "one.|two"),
        ("w", "one tw|o", "one tw|o"),
        ("w", "|one\n  two", "one\n  |two"),
        ("w", "|one\n\ntwo", "one\n|\ntwo"),
        ("ww", "|one\n\ntwo", "one\n\n|two"),
        ("b", "one tw|o", "one |two"),
        ("b", "one |two", "|one two"),
        ("2b", "one.tw|o", "one|.two"),
        ("b", "|one", "|one"),
        ("b", "one\n\n|two", "one\n|\ntwo"),
        ("e", "|one two", "on|e two"),
        ("e", "on|e two", "one tw|o"),
        ("e", "one tw|o", "one tw|o"),
        ("2e", "|one\ntwo", "one\ntw|o"),
        ("0", "  ab|c", "|  abc"),
        ("^", "  ab|c", "  |abc"),
        ("$", "|abc\nd", "ab|c\nd"),
        ("2$", "|abc\nde", "abc\nd|e"),
        ("gg", "a\n  b\n|c", "|a\n  b\nc"),
        ("2gg", "a\n  b\n|c", "a\n  |b\nc"),
        ("G", "|a\nb\n  c", "a\nb\n  |c"),
        ("2G", "|a\nb\nc", "a\n|b\nc"),
        # Deleting
        ("x", "a|bc", "a|c"),
        ("3x", "a|bc\nd", "|a\nd"),
        ("x", "a\n|\nb", "a\n|\nb"),
        ("x", "abc|\nd", "a|b\nd"),
        ("v", "abc|", "ab|c VISUAL"),
        ("dd", "a\n|b\nc", "a\n|c"),
        ("dd", "a\n|b", "|a"),
        ("dd", "|a", "|"),
        ("2dd", "|a\nb\nc", "|c"),
        ("d2d", "|a\nb\nc", "|c"),
        ("2d2d", "|a\nb\nc\nd\ne", "|e"),
        ("dj", "|a\nb\nc", "|c"),
        ("dk", "a\n|b\nc", "|c"),
        ("dj", "a\n|b", "a\n|b"),
        ("dw", "|one two", "|two"),
        ("dw", "one |two\nx", "one| \nx"),
        ("d2w", "|one two three", "|three"),
        ("2dw", "|one two three", "|three"),
        ("de", "|one two", "| two"),
        ("db", "one |two", "|two"),
        ("dh", "ab|c", "a|c"),
        ("dl", "a|bc", "a|c"),
        ("d0", "ab|c", "|c"),
        ("d^", "  ab|c", "  |c"),
        ("d$", "a|bc\nd", "|a\nd"),
        ("D", "a|bc\nd", "|a\nd"),
        ("dG", "a\n|b\nc", "|a"),
        ("dgg", "a\n|b\nc", "|c"),
        # Changing
        ("cwX", "|one two", "X| two INSERT"),
        ("cwX", "on|e two", "onX| two INSERT"),
        ("cw", "one| two", "one|two INSERT"),
        ("c2wX", "|one two x", "X| x INSERT"),
        ("cc", "a\n  |b\nc", "a\n|\nc INSERT"),
        ("2cc", "|a\nb\nc", "|\nc INSERT"),
        ("C", "a|bc\nd", "a|\nd INSERT"),
        ("c$x~", "a|bc", "a|x"),
        # Keeping and putting
        ("yyp", "|a\nb", "a\n|a\nb"),
        ("yyP", "a\n  |b", "a\n  |b\n  b"),
        ("yy2p", "|a", "a\n|a\na"),
        ("ywP", "|one two", "one| one two"),
        ("yep", "|one two", "oon|ene two"),
        ("xp", "|ab", "b|a"),
        ("x3p", "|ab", "baa|a"),
        ("ddp", "|a\nb", "b\n|a"),
        ("y$jp", "|a\nb", "a\nb|a"),
        ("p", "|ab", "|ab"),
        ("yjP", "|a\nb", "|a\nb\na\nb"),
        # Into writing, and out of it
        ("ix", "a|b", "ax|b INSERT"),
        ("ax", "a|b", "abx| INSERT"),
        ("Ix", "  a|b", "  x|ab INSERT"),
        ("Ax", "|ab\nc", "abx|\nc INSERT"),
        ("ox", "|a\nb", "a\nx|\nb INSERT"),
        ("Ox", "a\n|b", "a\nx|\nb INSERT"),
        ("ax~", "a|b", "ab|x"),
        ("i~", "|ab", "|ab"),
        # Marking
        ("vld", "|abc", "|c"),
        ("vlx", "|abc", "|c"),
        ("vey$p", "|ab c", "ab ca|b"),
        ("vjd", "a|b\ncd\ne", "|a\ne"),
        ("v$cX", "a|bc\nd", "aX|\nd INSERT"),
        ("vhd", "ab|cd", "a|d"),
        ("v", "a|b", "a|b VISUAL"),
        ("vv", "a|b", "a|b"),
        ("vl~", "|ab", "a|b"),
        ("v2l", "|abcd", "ab|cd VISUAL"),
        ("vGd", "|a\nb", "|"),
        # Meaning nothing
        ("z", "a|b", "a|b"),
        ("dzx", "a|bc", "a|c"),
        ("2~x", "a|bcd", "a|cd"),
        ("d~x", "a|bcd", "a|cd"),
        ("gzx", "a|bc", "a|c"),
    ],
)
def test_keys_do_what_they_do_in_vi(keys: str, before: str, then: str) -> None:
    assert shown(after(keys, before)) == then


def test_undoing_is_left_to_the_editor_as_often_as_was_asked() -> None:
    assert [after(keys, "|a").undo for keys in ("u", "3u", "&", "2&", "x")] == [1, 3, -1, -2, 0]


SCENES = st.text("ab .\n", max_size=12).flatmap(
    lambda text: st.integers(0, len(text)).map(lambda at: f"{text[:at]}|{text[at:]}")
)


@given(SCENES, st.lists(st.sampled_from(KEYS), max_size=12))
def test_no_keys_lead_out_of_the_text(scene: str, keys: list[str]) -> None:
    done = Done(Vim(Mode.NORMAL), scene.replace("|", "", 1), scene.index("|"))
    for key in keys:
        if done.vim.mode is Mode.INSERT:
            done = left_insert(done.vim, done.text, done.at)
        else:
            done = pressed(done.vim, done.text, done.at, key)
        assert 0 <= done.at <= len(done.text)
        if done.vim.mode is not Mode.INSERT and done.vim.keys == "":
            line = done.text[done.text.rfind("\n", 0, done.at) + 1 :].partition("\n")[0]
            assert not line or (done.at < len(done.text) and done.text[done.at] != "\n")
        assert len(done.vim.keys) < 40


@given(SCENES, st.sampled_from(["dd", "dw", "d$", "x", "dj", "dG", "db", "de", "vld", "D", "dgg", "2dd"]))
def test_what_is_deleted_is_in_the_register(scene: str, keys: str) -> None:
    before = scene.replace("|", "", 1)
    done = after(keys, scene)
    held = done.vim.register
    if done.text != before and not done.vim.holds_lines:
        assert len(held) == len(before) - len(done.text)
        assert any(before == done.text[:at] + held + done.text[at:] for at in range(len(done.text) + 1))
