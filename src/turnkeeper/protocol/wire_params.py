"""What each tool shows of a call it asks permission for: the exact shapes the original's dialogs read."""

from typing import Any

import msgspec

from turnkeeper.protocol.problems import BadRequest
from turnkeeper.protocol.wire_reading import fit


class BashParams(msgspec.Struct, frozen=True):
    description: str = ""
    command: str = ""
    working_dir: str = ""
    run_in_background: bool = False
    auto_background_after: int = 0
    detach: bool | msgspec.UnsetType = msgspec.UNSET
    """Ours alone: said where it is so, and the shape is the original's where it is not."""


class DownloadParams(msgspec.Struct, frozen=True, omit_defaults=True):
    url: str = msgspec.field(default_factory=str)
    file_path: str = msgspec.field(default_factory=str)
    timeout: int = 0


class FileParams(msgspec.Struct, frozen=True, omit_defaults=True):
    """Of every tool that writes a file: what it was and what it would be."""

    file_path: str = msgspec.field(default_factory=str)
    old_content: str = ""
    new_content: str = ""


class FetchParams(msgspec.Struct, frozen=True, omit_defaults=True):
    url: str = msgspec.field(default_factory=str)
    format: str = msgspec.field(default_factory=str)
    timeout: int = 0


class AgenticFetchParams(msgspec.Struct, frozen=True, omit_defaults=True):
    url: str = ""
    prompt: str = msgspec.field(default_factory=str)


class ViewParams(msgspec.Struct, frozen=True):
    file_path: str = ""
    offset: int = 0
    limit: int = 0


class ListParams(msgspec.Struct, frozen=True):
    path: str = ""
    ignore: tuple[str, ...] | None = None
    depth: int = 0


Params = BashParams | DownloadParams | FileParams | FetchParams | AgenticFetchParams | ViewParams | ListParams

SHAPES: dict[str, type[Params]] = {
    "bash": BashParams,
    "download": DownloadParams,
    "edit": FileParams,
    "write": FileParams,
    "multiedit": FileParams,
    "fetch": FetchParams,
    "agentic_fetch": AgenticFetchParams,
    "view": ViewParams,
    "ls": ListParams,
}


def shaped(tool_name: str, params: Any) -> Any:
    """`params` in the tool's own shape, complete and without more; None if they do not fit it.

    The params of tools without a shape of their own are left as they are.
    """
    shape = SHAPES.get(tool_name)
    if shape is None:
        return params
    if not isinstance(params, dict):
        return None
    try:
        return fit(params, shape)
    except BadRequest:
        return None
