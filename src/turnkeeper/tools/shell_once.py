"""A command that a person typed: run once, in colour, and answered whole.

What it leaves running is stopped, since nobody would look after it. Cancelling stops all of it.
"""

from collections.abc import Mapping
from pathlib import Path

from turnkeeper.tools.shell_env import person_env, shell_path
from turnkeeper.tools.shell_process import CommandRefused, run, start

OUTPUT_BYTES_MAX = 4 * 1024 * 1024
TIMED_OUT = 124
REFUSED = 1
SYNTAX_ERROR = 2


async def run_once(command: str, cwd: Path, env: Mapping[str, str], *, timeout: float | None = None) -> tuple[str, int]:
    """What it said (errors last) and its exit code; a line that no shell can read has exit code 1."""
    around = person_env(env)
    kept = {"stdout": bytearray(), "stderr": bytearray()}
    lost = 0

    def heard(stream: str, data: bytes) -> None:
        nonlocal lost
        room = max(0, OUTPUT_BYTES_MAX - len(kept[stream]))
        kept[stream] += data[:room]
        lost += len(data) - min(room, len(data))

    try:
        process = start((shell_path(around), "-c", command), cwd=cwd, env=around, apart=True)
    except CommandRefused as refused:
        return str(refused), REFUSED
    in_time = await run(process, heard, seconds_max=timeout)
    texts = [bytes(kept[stream]).decode("utf-8", "replace") for stream in ("stdout", "stderr")]
    if lost:
        texts.append(f"[{lost} bytes were left out]")
    if not in_time:
        texts.append(f"[stopped after {timeout:g} seconds]")
    assert process.exit is not None, "a command that was heard out has ended"
    code = process.exit.status if in_time else TIMED_OUT
    if code == SYNTAX_ERROR and "syntax error" in texts[1]:
        code = REFUSED
    return "\n".join(filter(None, texts)), code
