"""Keeping a workspace's database small: what of its log is too old, or too much, is forgotten now and then.

It happens while others work, in small steps, and never while a workspace opens. A disk that refuses costs nothing but
the space: it is tried again at the next look.
"""

import logging
import time
from collections.abc import Callable
from pathlib import Path

import anyio

from turnkeeper.protocol.problems import Problem
from turnkeeper.settings.settings import Database
from turnkeeper.store.upkeep import Upkeep

log = logging.getLogger(__name__)

ARCHIVE = "archive.jsonl"
FIRST_SECONDS_MAX = 60.0
"""A workspace that is open for a short while only is looked at, too."""
DAY_MILLISECONDS = 86_400_000


async def keep_tidy(upkeep: Upkeep, data_dir: Path, database: Callable[[], Database]) -> None:
    """For as long as the workspace is open; what it says may change meanwhile."""
    await anyio.sleep(min(database().tidy_seconds, FIRST_SECONDS_MAX))
    while True:
        try:
            await tidy(upkeep, data_dir, database())
        except Problem as problem:
            log.warning("database not tidied", extra={"problem": problem.message})
        await anyio.sleep(database().tidy_seconds)


async def tidy(upkeep: Upkeep, data_dir: Path, database: Database) -> int:
    """Forget what is to be forgotten, and give its room back; returns how many entries that was."""
    before_at = int(time.time() * 1000) - database.log_days * DAY_MILLISECONDS if database.log_days else None
    before = await upkeep.expired(before_at=before_at, bytes_max=database.log_bytes_max or None)
    forgotten = await upkeep.trim(before=before, archive=data_dir / ARCHIVE if database.archive else None)
    if forgotten:
        pages = await upkeep.vacuum()
        log.info("database tidied", extra={"entries": forgotten, "pages": pages})
    return forgotten
