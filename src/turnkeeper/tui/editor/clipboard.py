"""The picture in the clipboard, through whichever program of this computer can read it.

A terminal hands over text and no pictures. What is started has three seconds and five megabytes, and is ended with the
block that started it.
"""

import shutil
import subprocess
from collections.abc import Mapping

import anyio

from turnkeeper.tui.editor.attaching import BYTES_MAX, NotAttached, size

SECONDS = 3.0
TOOLS = (
    ("WAYLAND_DISPLAY", ("wl-paste", "--no-newline", "--type", "image/png")),
    ("DISPLAY", ("xclip", "-selection", "clipboard", "-target", "image/png", "-out")),
    ("", ("pngpaste", "-")),
)
PNG = b"\x89PNG\r\n\x1a\n"
NO_TOOL = "no program here can read pictures from the clipboard: install wl-paste, xclip or pngpaste, or paste a path"
NO_PICTURE = "the clipboard holds no picture; paste text with your terminal's own key"


def reader(env: Mapping[str, str]) -> tuple[str, ...]:
    """The program to ask, whole; empty where there is none."""
    for variable, command in TOOLS:
        if (not variable or env.get(variable)) and (found := shutil.which(command[0], path=env.get("PATH"))):
            return (found, *command[1:])
    return ()


async def read_picture(env: Mapping[str, str]) -> bytes:
    command = reader(env)
    if not command:
        raise NotAttached(NO_TOOL)
    try:
        with anyio.fail_after(SECONDS):
            content = await output(command, env)
    except TimeoutError:
        raise NotAttached(f"{command[0]} did not answer within {SECONDS:g} seconds") from None
    except OSError as error:
        raise NotAttached(f"{command[0]}: {error.strerror}") from error
    if not content.startswith(PNG):
        raise NotAttached(NO_PICTURE)
    return content


async def output(command: tuple[str, ...], env: Mapping[str, str]) -> bytes:
    content = b""
    async with await anyio.open_process(
        command,
        env=dict(env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        assert process.stdout
        async for piece in process.stdout:
            content += piece
            if len(content) > BYTES_MAX:
                process.kill()
                raise NotAttached(f"the picture is larger than {size(BYTES_MAX)}")
    return content
