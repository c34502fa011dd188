"""What `run` is asked: the words of the command line, what was piped in, and the files sent along.

Standard input is read only where it was clearly meant:

| standard input is | with a prompt | without one |
|---|---|---|
| named by `-` or `--stdin` | read to its end | read to its end |
| a file (`< notes.txt`) | read | read |
| a pipe that says something within half a second | read to its end | read to its end |
| a pipe that says nothing | left alone, with a note on stderr | a usage error, after three seconds |
| a terminal, `/dev/null`, closed | left alone | a usage error |

So a script, a scheduler or an editor that keeps a silent pipe open does not hang us, and nothing that is said is lost
without a word. What was read comes first, an empty line after it, then the prompt.
"""

import os
import selectors
import stat
import sys
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from turnkeeper.cli.output import say
from turnkeeper.protocol.runs import Attachment, Prompt

FIRST_BYTE_SECONDS = 0.5
ALONE_SECONDS = 3.0
STDIN_BYTES_MAX = 8 * 1024 * 1024
ATTACHMENT_BYTES_MAX = 16 * 1024 * 1024


class Piped(msgspec.Struct, frozen=True):
    """What standard input is: whether it can say something, and whether saying nothing would keep us waiting."""

    is_there: bool
    may_be_silent: bool


def prompt_of(words: Sequence[str], *, stdin: bool, attached: Sequence[Path], quiet: bool) -> Prompt:
    """The prompt; raises a usage error where there is none."""
    typed = " ".join(word for word in words if word != "-").strip()
    piped = read_stdin(wanted=stdin or "-" in words, alone=not typed, quiet=quiet)
    text = "\n\n".join(said for said in (piped, typed) if said)
    if not text:
        raise click.UsageError("there is no prompt: turnkeeper run 'What is in this directory?'")
    return Prompt(text, tuple(attachment(path) for path in attached))


def read_stdin(*, wanted: bool, alone: bool, quiet: bool) -> str:
    """What was piped in; empty where nothing was meant for us."""
    try:
        file = sys.stdin.fileno()
    except (AttributeError, OSError, ValueError):
        return ""
    piped = look_at(file)
    if wanted:
        return read_all(file)
    if not piped.is_there:
        return ""
    if piped.may_be_silent and not says_something(file, ALONE_SECONDS if alone else FIRST_BYTE_SECONDS):
        if not alone and not quiet:
            say("turnkeeper: standard input is a pipe that says nothing and was left alone; --stdin waits for it")
        return ""
    return read_all(file)


def look_at(file: int) -> Piped:
    try:
        mode = os.fstat(file).st_mode
    except OSError:
        return Piped(is_there=False, may_be_silent=False)
    if stat.S_ISREG(mode):
        return Piped(is_there=True, may_be_silent=False)
    waits = stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
    return Piped(is_there=waits, may_be_silent=waits)


def says_something(file: int, seconds: float) -> bool:
    """Whether a pipe has data, or its end, within this time."""
    with selectors.DefaultSelector() as selector:
        selector.register(file, selectors.EVENT_READ)
        return bool(selector.select(seconds))


def read_all(file: int) -> str:
    said = b""
    while chunk := os.read(file, 1024 * 1024):
        said += chunk
        if len(said) > STDIN_BYTES_MAX:
            raise click.UsageError(f"standard input is larger than {STDIN_BYTES_MAX} bytes; attach it with --attach")
    return said.decode("utf-8", "replace").strip()


def attachment(path: Path) -> Attachment:
    try:
        if path.stat().st_size > ATTACHMENT_BYTES_MAX:
            raise click.UsageError(f"{path} is larger than {ATTACHMENT_BYTES_MAX} bytes")
        content = path.read_bytes()
    except OSError as error:
        raise click.UsageError(f"{path} cannot be read: {error.strerror}") from error
    return Attachment(str(path.absolute()), path.name, kind_of(path, content), content)


def kind_of(path: Path, content: bytes) -> str:
    """Its MIME type: by its name, and where that says nothing, by whether it can be read as text."""
    import mimetypes

    guessed, _ = mimetypes.guess_type(path.name)
    if guessed and not guessed.startswith("application/"):
        return guessed
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return guessed or "application/octet-stream"
    return "text/plain"
