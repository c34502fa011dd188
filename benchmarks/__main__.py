"""Run every benchmark (or those named), one after the other; exit 1 if one of them breaks its bound.

Each is a program of its own: it prints its table, and exits 1 when a measured value is beyond what it promises.
"""

import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
MINUTES_MAX = 10


def main() -> int:
    known = sorted(path.stem for path in HERE.glob("*.py") if not path.stem.startswith("_"))
    parser = argparse.ArgumentParser(prog="scripts/bench", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help=f"which: {', '.join(known)} (all)")
    names: list[str] = parser.parse_args().names
    if strange := [name for name in names if name not in known]:
        parser.error(f"there is no benchmark {', '.join(strange)}; there are {', '.join(known)}")
    broken = [name for name in names or known if not keeps_its_bounds(name)]
    if broken:
        print(f"beyond their bounds: {', '.join(broken)}")
    return 1 if broken else 0


def keeps_its_bounds(name: str) -> bool:
    print(f"== {name}", flush=True)
    program = [sys.executable, "-m", f"benchmarks.{name}"]
    try:
        return subprocess.run(program, cwd=HERE.parent, timeout=MINUTES_MAX * 60, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        print(f"{name} took longer than {MINUTES_MAX} minutes")
        return False


if __name__ == "__main__":
    sys.exit(main())
