"""The server's own log keeps within what was set."""

import logging
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from turnkeeper.house.logs import LogFiles
from turnkeeper.settings.settings import Log

DAY_SECONDS = 86_400


@contextmanager
def written(path: Path, log: Log) -> Generator[Callable[[int], None]]:
    """What numbers are written to that log."""
    files = LogFiles(path, log)
    try:
        yield lambda number: files.emit(
            logging.makeLogRecord({"levelname": "INFO", "msg": "something happened", "number": number})
        )
    finally:
        files.close()


def test_all_files_of_a_log_stay_within_their_sizes_and_the_newest_lines_are_there(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    with written(path, Log(file_bytes_max=2048, total_bytes_max=8192)) as write:
        for number in range(500):
            write(number)
    sizes = [file.stat().st_size for file in tmp_path.iterdir()]
    assert len(sizes) == 4
    assert max(sizes) <= 2048
    assert path.read_text().endswith(" info    something happened number=499\n")


def test_one_file_may_not_be_larger_than_all_of_them(tmp_path: Path) -> None:
    with written(tmp_path / "server.log", Log(file_bytes_max=1 << 20, total_bytes_max=4096)) as write:
        for number in range(500):
            write(number)
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) <= 4096


def test_what_is_older_than_it_may_be_or_more_than_there_may_be_is_forgotten_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    others = ("server.log.1", "server.log.2", "server.log.3", "server.log.99", "server.log.mine", "notes.1")
    for name in others:
        (tmp_path / name).write_text(name)
    long_ago = path.parent.stat().st_mtime - 8 * DAY_SECONDS
    for name in ("server.log.2", "server.log.mine", "notes.1"):
        os.utime(tmp_path / name, (long_ago, long_ago))
    with written(path, Log(retention_days=7)) as write:
        write(1)
    kept = sorted(file.name for file in tmp_path.iterdir())
    assert kept == ["notes.1", "server.log", "server.log.1", "server.log.3", "server.log.mine"]
