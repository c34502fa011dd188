"""The server's own log: an event and its fields on each line, in files that stay within what was set.

A full file becomes `server.log.1`, and what that was `server.log.2`: the oldest goes when all of them together are as
large as they may be, or when it is older than it may be.
"""

import logging
import os
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from turnkeeper.settings.settings import DAY_SECONDS, Log

LOOK_SECONDS = 3_600
"""Between two looks at what is too old."""
STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message", "taskName"}


class Line(logging.Formatter):
    """An event name and its fields, on one line."""

    def format(self, record: logging.LogRecord) -> str:
        said = f"{self.formatTime(record)} {record.levelname.lower():7} {record.getMessage()}"
        fields = " ".join(f"{key}={value}" for key, value in vars(record).items() if key not in STANDARD)
        text = f"{said} {fields}" if fields else said
        return f"{text}\n{self.formatException(record.exc_info)}" if record.exc_info else text


class LogFiles(RotatingFileHandler):
    """Owns the files of one log, which are its owner's alone, also in a directory that others can look into."""

    def __init__(self, path: Path, log: Log) -> None:
        # Two at least, since one that is full is kept while the next one fills.
        size = min(log.file_bytes_max, log.total_bytes_max // 2)
        # A log must be able to say what no text can, such as half a letter from a model.
        super().__init__(
            path,
            maxBytes=size,
            backupCount=log.total_bytes_max // size - 1,
            encoding="utf-8",
            errors="backslashreplace",
        )
        self.setFormatter(Line())
        self._path = path
        self._kept_seconds = log.retention_days * DAY_SECONDS
        self._look_at = 0.0

    def _open(self) -> TextIOWrapper:
        def opener(path: str, flags: int) -> int:
            return os.open(path, flags, 0o600)

        return open(self.baseFilename, "a", encoding=self.encoding, errors=self.errors, opener=opener)

    def emit(self, record: logging.LogRecord) -> None:
        if record.created >= self._look_at:
            self._look_at = record.created + LOOK_SECONDS
            self._forget(before=record.created - self._kept_seconds)
        super().emit(record)

    def _forget(self, *, before: float) -> None:
        """Remove full files that nothing was added to since then, and those that are more than there may be now."""
        for file in self._path.parent.glob(f"{self._path.name}.*"):
            number = file.name.rpartition(".")[2]
            try:
                if number.isdigit() and (int(number) > self.backupCount or file.stat().st_mtime < before):
                    file.unlink()
            except OSError:
                # It is gone already, or not ours to remove; the next look is in an hour.
                continue


def log_to(path: Path, log: Log = Log()) -> None:  # noqa: B008 - frozen
    """From now on this process writes there what happens in it."""
    # A disk that is full takes no log either. Shouting that to a stderr which nobody reads would one day block us.
    logging.raiseExceptions = False
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    logging.basicConfig(level=log.level.upper(), handlers=[LogFiles(path, log)])
    logging.getLogger("httpx2").setLevel(logging.WARNING)
