"""Writing in one's own editor: the draft goes into a file, the terminal to the editor, and the text comes back.

The draft stays as it was if the editor cannot be started, fails, or leaves something that cannot be read.
"""

import os
import shlex
import shutil
import subprocess
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile

import anyio
import anyio.to_thread
from textual.app import App, SuspendNotSupported

from turnkeeper.protocol.problems import Problem
from turnkeeper.tui.editor.attaching import BYTES_MAX

FALLBACKS = ("nano", "vi")


class NotEdited(Problem):
    """The editor did not give a text back; the draft is as it was."""

    status = 409


def editor(env: Mapping[str, str]) -> list[str]:
    """`$VISUAL`, else `$EDITOR`, else what is there of nano and vi. Either may have arguments."""
    for said in (env.get("VISUAL", ""), env.get("EDITOR", "")):
        if said.strip():
            try:
                return shlex.split(said)
            except ValueError as error:
                raise NotEdited(f"cannot read the editor's name {said!r}: {error}") from error
    for name in FALLBACKS:
        if found := shutil.which(name, path=env.get("PATH")):
            return [found]
    raise NotEdited("there is no editor: set EDITOR, or install nano or vi")


async def edited(app: App[object], text: str, env: Mapping[str, str]) -> str:
    """The text as it comes back. The terminal is the editor's meanwhile, and what runs at the server goes on."""
    command = editor(env)
    with NamedTemporaryFile("w", prefix="msg_", suffix=".md", encoding="utf-8", delete=False) as file:
        file.write(text)
    path = Path(file.name)
    try:
        with lent(app):
            await anyio.to_thread.run_sync(run, [*command, str(path)], env)
        return await anyio.to_thread.run_sync(text_of, path)
    finally:
        await anyio.Path(path).unlink(missing_ok=True)


@contextmanager
def lent(app: App[object]) -> Generator[None]:
    """The terminal is somebody else's until the block ends, and ours again however it ends.

    Textual takes the terminal back only where nothing is raised in its own block, so what is raised in ours waits.
    """
    raised: BaseException | None = None
    try:
        # Nothing of ours is drawn over the editor.
        with app.suspend(), app.batch_update():
            try:
                yield
            except BaseException as error:  # noqa: BLE001 - it is raised again as soon as the terminal is ours
                raised = error
    except SuspendNotSupported as error:
        raise NotEdited("this terminal cannot be lent to an editor") from error
    if raised is not None:
        raise raised


def run(command: list[str], env: Mapping[str, str]) -> None:
    name = Path(command[0]).name
    try:
        code = subprocess.run(command, env=dict(env), check=False).returncode
    except OSError as error:
        raise NotEdited(f"the editor {name} cannot be started: {error.strerror}; the draft is as it was") from error
    if code:
        raise NotEdited(f"the editor {name} ended with {code}; the draft is as it was")


def text_of(path: Path) -> str:
    """Without the newline that editors put at the end."""
    try:
        if os.path.getsize(path) > BYTES_MAX:  # noqa: PTH202 - in a thread
            raise NotEdited("the text came back too large; the draft is as it was")
        return path.read_text("utf-8").removesuffix("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise NotEdited(f"the text cannot be read: {error}; the draft is as it was") from error
