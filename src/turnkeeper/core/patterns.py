"""Which paths and addresses a rule's pattern is about.

Paths are compared segment by segment: `*` is any name, `**` any number of directories. Whoever asks has resolved
links first: here a path is text. Where a pattern can be read in two ways, an allowance takes the narrower one and a
prohibition the wider (`loose`): `.env` then means a `.env` anywhere, a directory everything in it, and letter case
does not matter.
"""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from posixpath import normpath
from urllib.parse import SplitResult, urlsplit

DRIVE = re.compile(r"[A-Za-z]:[\\/]")
DOMAIN = "domain:"
# What different readers of an address read differently: none of it is covered by an allowance.
AMBIGUOUS_ADDRESS = re.compile(r"[\s\\\x00-\x1f\x7f]|//[^/?#]*@|/\.\.?(?:[/?#]|$)|%(?:2e|2f|5c)", re.IGNORECASE)


def path_fits(pattern: str, path: str, *, workdir: str, loose: bool) -> bool:
    if not path:
        return False
    if loose:
        pattern, path, workdir = pattern.casefold(), path.casefold(), workdir.casefold()
    wanted = wanted_segments(pattern, workdir, loose=loose)
    return segments_fit(wanted, segments(absolute(path, workdir)), loose=loose)


def absolute(path: str, workdir: str) -> str:
    slashed = with_slashes(path)
    joined = slashed if is_absolute(slashed) else f"{with_slashes(workdir)}/{slashed}"
    return "/" + normpath(joined).lstrip("/")


def is_absolute(path: str) -> bool:
    return path.startswith("/") or bool(DRIVE.match(path))


def with_slashes(path: str) -> str:
    return path.replace("\\", "/") if DRIVE.match(path) else path


def segments(path: str) -> list[str]:
    return [segment for segment in path.split("/") if segment]


def wanted_segments(pattern: str, workdir: str, *, loose: bool) -> list[str]:
    slashed = with_slashes(pattern)
    directory = ["**"] if slashed.endswith("/") else []
    if is_absolute(slashed):
        return [*segments(normpath(slashed)), *directory]
    if loose and "/" not in slashed.rstrip("/"):
        return ["**", *segments(slashed), *directory]
    return [*segments(absolute(slashed, escaped(workdir))), *directory]


def escaped(text: str) -> str:
    """The text as a pattern that means only itself."""
    return re.sub(r"([*?[])", r"[\1]", text)


def segments_fit(wanted: Sequence[str], given: Sequence[str], *, loose: bool) -> bool:
    """`**` in between is any number of segments; at the end it is at least one. Loosely, what fits a parent fits."""
    ends = len(given)
    places = {0}
    for at, pattern in enumerate(wanted):
        if pattern == "**":
            least = 1 if at == len(wanted) - 1 else 0
            places = set(range(min(places) + least, ends + 1)) if places else places
        else:
            places = {place + 1 for place in places if place < ends and fnmatchcase(given[place], pattern)}
    return bool(places) if loose else ends in places


def address_fits(pattern: str, address: str, *, loose: bool) -> bool:
    """`domain:example.com`, `*.example.com`, `example.com/docs/**`, `https://example.com/docs/**`."""
    if AMBIGUOUS_ADDRESS.search(address) and not loose:
        return False
    wanted, given = split(pattern), split(address)
    if wanted is None or given is None:
        return loose
    if "://" in pattern and wanted.scheme != given.scheme:
        return False
    if wanted.port is not None and wanted.port != given.port:
        return False
    if not host_fits(wanted.hostname or "", given.hostname or "", loose=loose):
        return False
    path = wanted.path + ("**" if wanted.path.endswith("/") and wanted.path != "/" else "")
    return path in ("", "/") or segments_fit(segments(path), segments(given.path), loose=loose)


def split(address: str) -> SplitResult | None:
    """None: it is no address at all."""
    bare = address.removeprefix(DOMAIN)
    try:
        parts = urlsplit(bare if "://" in bare else f"//{bare}")
        return parts if parts.hostname and (parts.port is None or parts.port > 0) else None
    except ValueError:
        return None


def host_fits(wanted: str, given: str, *, loose: bool) -> bool:
    wanted, given = wanted.rstrip("."), given.rstrip(".")
    return fnmatchcase(given, wanted) or (loose and given.endswith(f".{wanted}"))
