"""What a command says is bounded wherever it is kept, and cut where a reader sees a gap between characters."""

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from turnkeeper.tools.shell_output import (
    FILE_BYTES_MAX,
    HEAD_BYTES_MAX,
    TAIL_BYTES_MAX,
    Output,
    clusters,
    readable,
    shortened,
)

PIECES = st.sampled_from(["a", "é", "e\u0301", "汉", "👨\u200d👩\u200d👧", "👍🏽", "🇩🇪", "❤\ufe0f", " ", "\n", "word "])
TEXTS = st.lists(PIECES, max_size=120).map("".join)


@settings(max_examples=300)
@given(TEXTS, st.integers(2, 60))
def test_no_cut_goes_through_what_a_reader_sees_as_one_character(text: str, cells_max: int) -> None:
    cut = shortened(text, cells_max)
    if cut == text:
        return
    first, _, rest = cut.partition("\n\n... [")
    last = rest.partition("] ...\n\n")[2]
    whole = list(clusters(text))
    assert text.startswith(first)
    assert text.endswith(last)
    assert list(clusters(first)) == whole[: len(list(clusters(first)))]
    assert list(clusters(last)) == whole[len(whole) - len(list(clusters(last))) :]


@given(TEXTS)
def test_short_output_is_not_touched(text: str) -> None:
    assert shortened(text, 10_000) == text


def test_what_is_kept_does_not_grow_with_what_is_said(tmp_path: Path) -> None:
    output, chunk = Output(tmp_path / "o.log"), b"x" * 999 + b"\n"
    for _ in range(70_000):
        output.feed(chunk)
    output.close()
    assert output.total_bytes == 70_000_000
    assert (tmp_path / "o.log").stat().st_size == FILE_BYTES_MAX
    assert not output.file_is_whole
    kept = [value for value in vars(output).values() if isinstance(value, bytearray)]
    assert sum(map(len, kept)) <= HEAD_BYTES_MAX + 2 * TAIL_BYTES_MAX + len(chunk)
    assert output.text().startswith("xxx")
    assert "lines truncated" in output.text()


def test_a_disk_that_takes_no_more_costs_the_file_and_not_what_is_shown(tmp_path: Path) -> None:
    (tmp_path / "in the way").write_text("")
    output = Output(tmp_path / "in the way" / "o.log")
    output.feed(b"begin\n" + b"y" * 100_000)
    assert output.file is None
    assert output.text().startswith("begin\n")


def test_a_line_that_was_drawn_a_thousand_times_is_read_once_and_at_once() -> None:
    assert readable("10%\r100%\r\nnext\r\n50%\r") == "100%\nnext\n50%"
    assert readable("\r" + "a" * 131_000) == "a" * 131_000
    assert readable("a\r" * 60_000 + "b") == "b"


def test_a_title_that_never_ends_takes_no_more_than_its_line() -> None:
    assert readable("\x1b]0;a title\n1\n2\n") == "\n1\n2\n"
