"""How long a person looks at an empty terminal: from the start of the process to the first words, and to the workspace.

Beside it, in the same run, how long Python takes to import Textual alone, which no application of its kind can do
without. The server is warm, as it is all day. The first bound is for the machine on which it was chosen; the ratio is
for any.
"""

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

PAINT_SECONDS_MAX = 0.5
RATIO_MAX = 3.0
ROUNDS = 7
WAIT_SECONDS = 20.0
# The cursor stands on the first letter.
FIRST, READY = b"Looking for your server", b"ay what to do"
PROGRAM = (sys.executable, "-P", "-m", "turnkeeper")


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="tk-") as folder:
        home = Path(folder)
        (home / "project").mkdir()
        (home / "run").mkdir(mode=0o700)
        env = {
            "HOME": folder,
            "XDG_RUNTIME_DIR": str(home / "run"),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
        }
        try:
            return report([round_(env, home / "project") for _ in range(ROUNDS + 1)][1:])
        finally:
            subprocess.run([*PROGRAM, "server", "stop"], env=env, cwd=home, capture_output=True, check=False)


def round_(env: dict[str, str], project: Path) -> tuple[float, float, float]:
    """Seconds to the first words, to the workspace, and to import Textual. The first round starts the server."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import textual.app"], env=env, check=True)
    alone = time.perf_counter() - began
    return (*painted(env, project), alone)


def painted(env: dict[str, str], project: Path) -> tuple[float, float]:
    screen, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    began = time.perf_counter()
    process = subprocess.Popen(PROGRAM, stdin=end, stdout=end, stderr=end, env=env, cwd=project, start_new_session=True)
    os.close(end)
    said, seen = b"", dict[bytes, float]()
    try:
        while len(seen) < 2 and time.perf_counter() - began < WAIT_SECONDS:
            if select.select([screen], [], [], 0.5)[0]:
                said += os.read(screen, 65536)
                now = time.perf_counter() - began
                for words in (FIRST, READY):
                    if words in said:
                        seen.setdefault(words, now)
    finally:
        process.kill()
        process.wait()
        os.close(screen)
    if len(seen) < 2:
        raise RuntimeError(f"the screen never showed it: {said[-400:]!r}")
    return seen[FIRST], seen[READY]


def report(rounds: list[tuple[float, float, float]]) -> int:
    first, ready, alone = (min(column) for column in zip(*rounds, strict=True))
    print(f"{'':34}{'seconds':>9}{'bound':>8}{'ratio':>8}{'bound':>8}")
    print(f"{'importing Textual alone':34}{alone:9.3f}")
    print(f"{'first words on the screen':34}{first:9.3f}{PAINT_SECONDS_MAX:8.2f}{first / alone:8.2f}{RATIO_MAX:8.2f}")
    print(f"{'the workspace on the screen':34}{ready:9.3f}{'':8}{ready / alone:8.2f}")
    return 1 if first > PAINT_SECONDS_MAX or first / alone > RATIO_MAX else 0


if __name__ == "__main__":
    sys.exit(main())
