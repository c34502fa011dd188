"""Where a path leads, whether that is within the workspace, and who must be asked before it is read.

A path is judged by where it really leads: a link inside the workspace to something outside is outside. Files that
usually hold secrets are asked for even inside, and nothing else inside is.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from turnkeeper.protocol.secretfiles import is_secret
from turnkeeper.tools.making import Refusal
from turnkeeper.tools.tool import Asking, Hands

PATH_BYTES_MAX = 4096


@dataclass(frozen=True, slots=True)
class Place:
    """A path as it was meant, and where it really leads."""

    path: Path
    real: Path
    inside: bool
    secret: bool


def located(hands: Hands, text: str) -> Place:
    """The place that a tool's parameter names: relative to the workspace, with `~` and `$NAME` of its client."""
    if not text or "\0" in text or len(text) > PATH_BYTES_MAX:
        raise Refusal(f"this is not a path: {text[:80]!r}")
    workdir = str(hands.workdir)
    named = os.path.join(workdir, expanded(text, hands.env))  # noqa: PTH118 - asked at every call of a tool
    path = os.path.normpath(named)
    # `..` is resolved after the links before it, as the system does when it opens the file.
    real = os.path.realpath(named)
    secret = is_secret(path) or (real != path and is_secret(real))
    # What lies below the workspace with every link resolved shows that the workspace's own path has none.
    inside = is_below(real, workdir) or is_below(real, os.path.realpath(workdir))
    return Place(Path(path), Path(real), inside, secret)


def is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder if folder.endswith("/") else f"{folder}/")


def expanded(text: str, env: Mapping[str, str]) -> str:
    if text == "~" or text.startswith("~/"):
        text = (env.get("HOME") or str(Path.home())) + text[1:]
    # A name that is not set stays as it is: `$` is a letter of many file names.
    if "$" not in text:
        return text
    return re.sub(r"\$(\w+)|\$\{(\w+)\}", lambda name: env.get(name[1] or name[2], name[0]), text)


async def permit_read(
    hands: Hands, place: Place, *, tool: str, action: str, params: Mapping[str, Any], what: str = "Read file"
) -> None:
    """Reading inside is harmless unless a rule says otherwise; outside, and secrets, are asked for."""
    await hands.permit(
        Asking(
            tool=tool,
            action=action,
            description=described(what, place),
            path=str(place.path),
            subject=str(place.real),
            params=params,
            safe=place.inside and not place.secret,
        )
    )


def described(what: str, place: Place) -> str:
    where = "" if place.inside else " outside the working directory"
    secret = " (it may hold secrets)" if place.secret else ""
    leads = f" -> {place.real}" if place.real != place.path else ""
    return f"{what}{where}: {place.path}{leads}{secret}"
