"""What was written and not sent outlives the terminal, and takes no more room than it may."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from turnkeeper.protocol.runs import Attachment
from turnkeeper.tui.editor import drafts
from turnkeeper.tui.editor.drafts import NOTHING, Draft, Drafts


def save(drafts: Drafts, place: str, session_id: str, draft: Draft) -> bool:
    drafts.put(place, session_id, draft)
    return drafts.write()


def on_disk(folder: Path, place: str, session_id: str) -> Draft:
    """What somebody would find whose terminal is alone."""
    return drafts._on_disk(folder, drafts._name(place, session_id))


PICTURE = Attachment("a.png", "a.png", "image/png", b"\x89PNG\x00\xff")


def test_a_draft_comes_back_as_it_was_for_its_session_alone(tmp_path: Path) -> None:
    draft = Draft("two\nlines ✓", is_shell=True, attachments=(PICTURE,))
    assert save(Drafts(tmp_path / "d"), "/work", "s1", draft)
    fresh = Drafts(tmp_path / "d")
    assert fresh.load("/work", "s1") == draft
    assert fresh.load("/work", "s2") == NOTHING
    assert fresh.load("/other", "s1") == NOTHING


def test_a_draft_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    save(Drafts(tmp_path / "d"), "/work", "s1", Draft("secret", attachments=(PICTURE,)))
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "d").iterdir()}
    assert (stat.S_IMODE((tmp_path / "d").stat().st_mode), modes) == (0o700, {0o600})


def test_a_draft_that_was_sent_leaves_nothing(tmp_path: Path) -> None:
    kept = Drafts(tmp_path)
    save(kept, "/work", "s1", Draft("text", attachments=(PICTURE,)))
    save(kept, "/work", "s1", NOTHING)
    assert list(tmp_path.iterdir()) == []


def test_a_key_beside_a_picture_does_not_write_the_picture_again(tmp_path: Path) -> None:
    kept = Drafts(tmp_path)
    save(kept, "/work", "s1", Draft("a", attachments=(PICTURE,)))
    (picture,) = tmp_path.glob("*.files")
    written = picture.stat().st_ino
    save(kept, "/work", "s1", Draft("ab", attachments=(PICTURE,)))
    assert picture.stat().st_ino == written
    assert on_disk(tmp_path, "/work", "s1") == Draft("ab", attachments=(PICTURE,))


def test_a_draft_survives_a_process_that_is_killed_while_it_writes(tmp_path: Path) -> None:
    """It writes ever longer drafts until it is killed; one of them is there, whole."""
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from turnkeeper.tui.editor.drafts import Draft, Drafts\n"
        f"drafts = Drafts(Path({str(tmp_path)!r}))\n"
        "for count in range(1, 1_000_000):\n"
        "    drafts.put('/work', 's1', Draft(f'{count} ' + 'x' * 100 * count))\n"
        "    drafts.write()\n"
        "    if count == 20: print('on', flush=True)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout
        assert writer.stdout.readline() == "on\n"
        writer.send_signal(signal.SIGKILL)
    number, _, rest = on_disk(tmp_path, "/work", "s1").text.partition(" ")
    assert int(number) >= 20
    assert rest == "x" * 100 * int(number)


def test_the_oldest_drafts_go_when_there_are_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafts, "DRAFTS_MAX", 3)
    kept = Drafts(tmp_path)
    for number in range(6):
        save(kept, "/work", str(number), Draft(f"draft {number}", attachments=(PICTURE,)))
        for path in tmp_path.iterdir():
            os.utime(path, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns - 10**9))
    assert [on_disk(tmp_path, "/work", str(number)).text for number in range(6)] == [
        *("", "", ""),
        *("draft 3", "draft 4", "draft 5"),
    ]


def test_the_oldest_drafts_go_when_they_take_too_much_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafts, "TOTAL_BYTES_MAX", 3000)
    kept = Drafts(tmp_path)
    for number in range(5):
        save(kept, "/work", str(number), Draft("x" * 1000))
        for path in tmp_path.iterdir():
            os.utime(path, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns - 10**9))
    kept_now = [bool(on_disk(tmp_path, "/work", str(number)).text) for number in range(5)]
    assert kept_now == [False, False, False, True, True]


def test_the_draft_that_was_just_written_never_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafts, "TOTAL_BYTES_MAX", 10)
    draft = Draft("x" * 1000, attachments=(PICTURE,))
    save(Drafts(tmp_path), "/work", "s1", draft)
    assert on_disk(tmp_path, "/work", "s1") == draft


def test_what_is_put_while_the_disk_is_busy_is_written_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Drafts(tmp_path)
    write = drafts._replace

    def slowly(path: Path, content: bytes) -> None:
        monkeypatch.setattr(drafts, "_replace", write)
        kept.put("/work", "s1", Draft("second"))
        write(path, content)

    monkeypatch.setattr(drafts, "_replace", slowly)
    assert save(kept, "/work", "s1", Draft("first"))
    assert on_disk(tmp_path, "/work", "s1") == Draft("first")
    assert kept.write()
    assert on_disk(tmp_path, "/work", "s1") == Draft("second")


def test_what_is_too_large_is_not_kept_and_the_rest_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafts, "ATTACHED_BYTES_MAX", 10)
    large = Attachment("b.png", "b.png", "image/png", b"x" * 11)
    save(Drafts(tmp_path), "/work", "s1", Draft("text", attachments=(large, PICTURE)))
    assert on_disk(tmp_path, "/work", "s1") == Draft("text", attachments=(PICTURE,))


@pytest.mark.parametrize("content", [b"", b"{", b'{"text": 3}', b"\xff\xfe", b"[]"])
def test_a_damaged_draft_is_no_draft(tmp_path: Path, content: bytes) -> None:
    save(Drafts(tmp_path), "/work", "s1", Draft("text"))
    (written,) = tmp_path.glob("*.json")
    written.write_bytes(content)
    assert on_disk(tmp_path, "/work", "s1") == NOTHING


def test_a_disk_that_takes_nothing_is_said_and_is_tried_again(tmp_path: Path) -> None:
    in_the_way = tmp_path / "d"
    in_the_way.write_text("a file")
    kept = Drafts(in_the_way)
    assert not save(kept, "/work", "s1", Draft("text"))
    in_the_way.unlink()
    assert save(kept, "/work", "s1", Draft("text"))
    assert on_disk(in_the_way, "/work", "s1") == Draft("text")


def test_a_draft_is_there_at_once_and_on_disk_when_it_was_written(tmp_path: Path) -> None:
    kept = Drafts(tmp_path)
    kept.put("/work", "s1", Draft("new"))
    assert kept.load("/work", "s1") == Draft("new")
    assert on_disk(tmp_path, "/work", "s1") == NOTHING
    assert kept.write()
    assert on_disk(tmp_path, "/work", "s1") == Draft("new")


def test_a_draft_belongs_to_the_terminal_that_writes_it_until_that_one_has_gone(tmp_path: Path) -> None:
    first, second = Drafts(tmp_path), Drafts(tmp_path)
    save(first, "/work", "s1", Draft("of the first"))
    assert second.load("/work", "s1") == NOTHING
    save(second, "/work", "s1", Draft("of the second"))
    assert (first.load("/work", "s1").text, second.load("/work", "s1").text) == ("of the first", "of the second")
    first.close()
    assert Drafts(tmp_path).load("/work", "s1").text == "of the first"
    save(second, "/work", "s1", NOTHING)
    assert Drafts(tmp_path).load("/work", "s1").text == "of the first"


def test_what_a_terminal_left_behind_is_not_written_over_by_one_that_was_there_before(tmp_path: Path) -> None:
    first, second = Drafts(tmp_path), Drafts(tmp_path)
    save(first, "/work", "s1", Draft("left behind"))
    assert second.load("/work", "s1") == NOTHING
    first.close()
    save(second, "/work", "s1", Draft("mine"))
    assert Drafts(tmp_path).load("/work", "s1").text == "left behind"


def test_more_terminals_than_there_is_room_for_are_told_so(tmp_path: Path) -> None:
    several = [Drafts(tmp_path) for _ in range(drafts.PLACES_MAX + 1)]
    taken = [save(one, "/work", "s1", Draft(str(number))) for number, one in enumerate(several)]
    assert taken == [*([True] * drafts.PLACES_MAX), False]
