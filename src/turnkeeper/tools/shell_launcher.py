"""The parent of one command: it reaps whatever the command starts, and outlives it by nothing.

This file is run as a program of its own and imports nothing but the standard library:
`python -I -S shell_launcher.py CONTROL STATUS GRACE_MS ARGV...`. The command gets a session of its own. On Linux the
launcher adopts what its descendants leave behind, so that no daemon escapes it.

CONTROL is the reading end of a pipe: a byte means stop, the end of the file means that the server is gone, and then
everything is stopped within two seconds. STATUS is where it tells, one line each, what becomes true:
`started PID`, `exit CODE` (negative: the signal), `left PID NAME` (still running after that), `stopped PID NAME`,
`stuck PID NAME` (cannot be killed). The end of STATUS means that nothing is left.
"""

import errno
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

ORPHANED_GRACE_SECONDS = 1.0
KILL_SECONDS = 3.0
POLL_MS = 20
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP)
NOT_FOUND = 127
NOT_EXECUTABLE = 126


class Launcher:
    """Owns the command's process and everything that descends from it."""

    def __init__(self, control: int, status: int, grace_seconds: float) -> None:
        self.control = control
        self.status = status
        self.grace_seconds = grace_seconds
        self.main = 0
        self.adopts = False
        self.wake, self.wake_write = os.pipe()
        for end in (control, status, self.wake, self.wake_write):
            os.set_inheritable(end, False)
            os.set_blocking(end, end == status)

    def run(self, argv: list[str]) -> None:
        self.adopts = prctl(PR_SET_CHILD_SUBREAPER, 1)
        signal.set_wakeup_fd(self.wake_write, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, heed)
        for number in IGNORED:
            signal.signal(number, signal.SIG_IGN)
        self.start(argv)
        self.tell(f"started {self.main}")
        while self.reap():
            if self.wait(None):
                orphaned = not self.asked()
                self.stop(ORPHANED_GRACE_SECONDS if orphaned else self.grace_seconds)
                return

    def start(self, argv: list[str]) -> None:
        parent = os.getpid()
        self.main = os.fork()
        if self.main:
            # Whoever reads the output is to see its end when the last process of the command has closed it.
            nothing = os.open(os.devnull, os.O_RDWR)
            for number in (0, 1, 2):
                os.dup2(nothing, number)
            return
        try:
            os.setsid()
            prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:
                os._exit(1)
            signal.set_wakeup_fd(-1)
            for number in (*IGNORED, signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ):
                signal.signal(number, signal.SIG_DFL)
            os.execvp(argv[0], argv)
        except OSError as error:
            os.write(2, f"{argv[0]}: {error.strerror}\n".encode())
            os._exit(NOT_FOUND if error.errno == errno.ENOENT else NOT_EXECUTABLE)

    def tell(self, line: str) -> None:
        try:
            os.write(self.status, f"{line}\n".encode())
        except OSError:
            pass  # Nobody listens any more; what has to be stopped is stopped all the same.

    def wait(self, timeout_ms: float | None) -> bool:
        """Sleep until a child changes or someone speaks; whether someone spoke, or fell silent for good."""
        poll = select.poll()
        poll.register(self.wake, select.POLLIN)
        poll.register(self.control, select.POLLIN)
        ready = [number for number, _ in poll.poll(timeout_ms)]
        if self.wake in ready:
            os.read(self.wake, 4096)
        return self.control in ready

    def asked(self) -> bool:
        try:
            return bool(os.read(self.control, 4096))
        except BlockingIOError:
            return True

    def reap(self) -> bool:
        """Take leave of the dead; whether anybody is left."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return not self.adopts and bool(self.alive())
            if pid == 0:
                return True
            if pid == self.main:
                left = [f"left {one} {name}" for one, name in self.alive().items()]
                self.tell("\n".join([f"exit {os.waitstatus_to_exitcode(status)}", *left]))

    def stop(self, grace_seconds: float) -> None:
        """Ask everything to end, and after the grace make it."""
        for pid, name in self.alive().items():
            self.tell(f"stopped {pid} {name}")
            send(pid, signal.SIGTERM)
            send(pid, signal.SIGCONT)
        deadline = time.monotonic() + grace_seconds
        while self.reap() and (left := deadline - time.monotonic()) > 0:
            if self.wait(min(left * 1000, POLL_MS)) and not self.asked():
                break
        deadline = time.monotonic() + KILL_SECONDS
        while self.reap() and time.monotonic() < deadline:
            for pid in self.alive():
                send(pid, signal.SIGKILL)
            time.sleep(POLL_MS / 1000)
        if self.reap():
            for pid, name in self.alive().items():
                self.tell(f"stuck {pid} {name}")

    def alive(self) -> dict[int, str]:
        """Every descendant that has not ended, and what it is called."""
        processes = processes_of_linux() if Path("/proc/self/stat").exists() else processes_of_ps()
        family = {os.getpid()}
        found: dict[int, str] = {}
        growing = True
        while growing:
            growing = False
            for pid, (parent, group, name) in processes.items():
                if pid not in family and (parent in family or (group == self.main and group)):
                    family.add(pid)
                    growing = True
                    if name:
                        found[pid] = name
        return found


def processes_of_linux() -> dict[int, tuple[int, int, str]]:
    """Parent, group and name of every process; those that have ended have no name."""
    found: dict[int, tuple[int, int, str]] = {}
    for entry in os.listdir("/proc"):  # noqa: PTH208 - a thousand names a time, none of them a path
        if entry.isdigit():
            try:
                text = Path("/proc", entry, "stat").read_text(errors="replace")
            except OSError:
                continue
            name, _, rest = text.partition(" (")[2].rpartition(") ")
            state, parent, group = rest.split()[:3]
            found[int(entry)] = (int(parent), int(group), "" if state in "ZX" else name.replace("\n", "?"))
    return found


def processes_of_ps() -> dict[int, tuple[int, int, str]]:
    listed = subprocess.run(
        ["/bin/ps", "-axo", "pid=,ppid=,pgid=,stat=,comm="], capture_output=True, text=True, check=False
    )
    found: dict[int, tuple[int, int, str]] = {}
    for line in listed.stdout.splitlines():
        pid, parent, group, state, name = line.split(None, 4)
        found[int(pid)] = (int(parent), int(group), "" if state.startswith("Z") else Path(name).name)
    return found


def heed(number: int, frame: object) -> None:
    """A signal that is not handled would not wake the poll."""


def send(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except OSError:
        pass  # It has ended since, or has become somebody else.


def prctl(option: int, value: int) -> bool:
    """Ask the kernel of Linux for something; elsewhere there is nobody to ask."""
    if not sys.platform.startswith("linux"):
        return False
    import ctypes

    return bool(ctypes.CDLL(None).prctl(option, value, 0, 0, 0) == 0)


if __name__ == "__main__":
    Launcher(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]) / 1000).run(sys.argv[4:])
