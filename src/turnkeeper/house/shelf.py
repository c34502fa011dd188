"""The catalogue of models that a server goes by: as packed with it, or as somebody last fetched it.

Nothing is fetched unasked. A person asks with `turnkeeper models update`; naming a source in the environment asks for
it at every start. What was fetched is kept, and believed until a newer one comes with a newer Turnkeeper.
"""

import logging
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
import httpx2

from turnkeeper.models.catalog import REFRESH_SECONDS_MAX, Catalog, embedded, fetched, keep, kept, packed_file, read
from turnkeeper.models.model import ModelTrouble
from turnkeeper.protocol.problems import Problem

log = logging.getLogger(__name__)

EMBEDDED = "embedded"
SOURCES = ("TURNKEEPER_CATALOG_URL", "CATWALK_URL")
CATALOGUE_PATH = "/v2/providers"
"""Where a server of catalogues has its newest one."""


class CatalogUnavailable(Problem):
    """The catalogue of models could not be read."""

    status = 502


class Shelf:
    """Owns which catalogue is in force."""

    def __init__(self, cache_file: Path, http: httpx2.AsyncClient) -> None:
        self.catalog = embedded()
        self._cache_file = cache_file
        self._http = http

    async def recall(self) -> None:
        """Believe what was last fetched, unless what is packed with us is newer."""
        if await anyio.to_thread.run_sync(_is_newer, self._cache_file, packed_file()):
            self.catalog = await kept(self._cache_file) or self.catalog

    async def update(self, source: str) -> Catalog:
        """The catalogue at this URL or in this file, from now on; `embedded` goes back to the one packed with us."""
        try:
            with anyio.fail_after(REFRESH_SECONDS_MAX):
                self.catalog = await self._read(source)
        except TimeoutError as late:
            raise CatalogUnavailable(f"{source} did not answer within {REFRESH_SECONDS_MAX:.0f} s") from late
        except (ModelTrouble, OSError, ValueError, httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise CatalogUnavailable(f"no catalogue of models could be read from {source}: {error}") from error
        return self.catalog

    async def _read(self, source: str) -> Catalog:
        if source == EMBEDDED:
            for kept_file in (self._cache_file, self._cache_file.with_suffix(".etag")):
                await anyio.Path(kept_file).unlink(missing_ok=True)
            return embedded()
        if "://" in source:
            return await fetched(_whole(source), self._cache_file, self._http)
        content = await anyio.Path(source).read_bytes()
        catalog = read(content)
        await anyio.to_thread.run_sync(keep, self._cache_file, content, "")
        return catalog

    async def update_at_start(self, env: Mapping[str, str]) -> None:
        """What the environment asks for; an old catalogue is better than none, so a failure is only noted."""
        source = named_source(env)
        if not source:
            return
        try:
            await self.update(source)
        except Problem as problem:
            log.warning("catalogue not updated", extra={"problem": problem.message})


def named_source(env: Mapping[str, str]) -> str:
    if env.get("TURNKEEPER_DISABLE_PROVIDER_AUTO_UPDATE") or env.get("CRUSH_DISABLE_PROVIDER_AUTO_UPDATE"):
        return ""
    return next((env[name] for name in SOURCES if env.get(name)), "")


def _whole(url: str) -> str:
    """A host alone is a server of catalogues; anything more says itself where the catalogue is."""
    return url if urlsplit(url).path.strip("/") else url.rstrip("/") + CATALOGUE_PATH


def _is_newer(file: Path, than: Path) -> bool:
    try:
        return file.stat().st_mtime > than.stat().st_mtime
    except OSError:
        return False
