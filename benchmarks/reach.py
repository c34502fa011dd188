"""How long a command keeps a person waiting, beside a Python that does nothing; exit 1 when a bound is broken.

Processes are timed from start to end, in turns, in a home of their own. The best of many rounds counts: it is what the
work costs, and all else is what the machine was doing besides. Bytecode is kept, as it is after any install.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from turnkeeper.models.scripted import Say, Script, turn

ROUNDS = 25
COLD_ROUNDS = 5
SECONDS_MAX = 30
VERSION_MAX = 2.0
WARM_MAX = 12.0
WARM_SECONDS_MAX = 0.25
COLD_SECONDS_MAX = 1.2

COMMAND = (str(Path(sys.executable).with_name("turnkeeper")),)
RUN = (*COMMAND, "run", "hi")
NOTHING = (sys.executable, "-c", "pass")

SETTINGS = """
[providers.scripted]
type = "scripted"
base_url = "{script}"
[providers.offline]
type = "offline"
[models.large]
provider = "scripted"
model = "scripted"
[models.small]
provider = "offline"
model = "offline"
"""


class Home:
    """Owns a home with nothing in it but a model of one word; `server` is what it is told besides."""

    def __init__(self, root: Path, **server: str) -> None:
        self.project = root / "project"
        self.project.mkdir()
        (root / "run").mkdir(mode=0o700)
        script = root / "script.json"
        script.write_bytes(msgspec.json.encode(Script((turn(Say("ok")),), again=True)))
        (self.project / "turnkeeper.toml").write_text(SETTINGS.format(script=script))
        self.env = {"HOME": str(root), "XDG_RUNTIME_DIR": str(root / "run"), "PATH": os.environ["PATH"], **server}

    def seconds(self, command: Sequence[str]) -> float:
        begin = time.perf_counter()
        subprocess.run(
            command,
            cwd=self.project,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
            timeout=SECONDS_MAX,
        )
        return time.perf_counter() - begin

    def stop(self) -> None:
        """So that the next command has to start the server; it answers when that has gone."""
        self.seconds((*COMMAND, "server", "stop", "--force"))


def best(rounds: int, works: Mapping[str, Callable[[], float]]) -> dict[str, float]:
    """The least that each of them took, done in turns after one round to warm up."""
    told = [{name: work() for name, work in works.items()} for _ in range(rounds + 1)][1:]
    return {name: min(one[name] for one in told) for name in works}


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="tk-") as folder:
        home = Home(Path(folder), TURNKEEPER_SERVER_IDLE_SECONDS="60")
        warm = best(
            ROUNDS,
            {
                "nothing": lambda: home.seconds(NOTHING),
                "version": lambda: home.seconds((*COMMAND, "--version")),
                "run": lambda: home.seconds(RUN),
            },
        )

        def from_nothing() -> float:
            home.stop()
            return home.seconds(RUN)

        try:
            cold = best(COLD_ROUNDS, {"run": from_nothing})["run"]
        finally:
            home.stop()
    kept: list[bool] = []

    def report(what: str, value: float, bound: float, unit: str = "") -> None:
        kept.append(value <= bound)
        print(f"{'ok  ' if kept[-1] else 'BAD '} {value:6.2f}{unit:2}  (≤ {bound}{unit})  {what}")

    print(f"python -c pass takes {warm['nothing'] * 1000:.1f} ms here")
    report("--version beside python -c pass", warm["version"] / warm["nothing"], VERSION_MAX)
    report("a run of one word at a warm server, beside python -c pass", warm["run"] / warm["nothing"], WARM_MAX)
    report("the same", warm["run"], WARM_SECONDS_MAX, "s")
    report("the same with the server to be started", cold, COLD_SECONDS_MAX, "s")
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
