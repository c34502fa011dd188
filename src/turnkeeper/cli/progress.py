"""What stands on stderr while a run goes on: that it does, which tools it uses, and who answers.

A spinner and the tools are shown where stderr is a terminal; `--verbose` shows the tools anywhere, `--quiet` nothing
anywhere. Who answers is said in one line where nobody chose it: with nothing configured, whoever reads the answer
should know whose it is.
"""

import itertools
import time
from typing import TextIO

import anyio
import msgspec

from turnkeeper.cli.ending import Ending
from turnkeeper.cli.output import cut, is_terminal, plain, style, terminal_columns, width
from turnkeeper.cli.printing import Printer, subject
from turnkeeper.client.news import Began, Called, More, Moved, News, Used
from turnkeeper.protocol.config import Config
from turnkeeper.protocol.messages import Message
from turnkeeper.protocol.runs import RunState

FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
TICK_SECONDS = 0.1
ERASE = "\r\x1b[K"
ADD_A_MODEL = "'turnkeeper login PROVIDER' adds one"


class Wanted(msgspec.Struct, frozen=True):
    """How much is wanted on stderr."""

    quiet: bool = False
    verbose: bool = False


class Progress:
    """Owns the line on which the spinner turns; everything printed goes past it."""

    def __init__(self, printer: Printer, err: TextIO, *, wanted: Wanted) -> None:
        self._printer = printer
        self._err = err
        self._is_shown = is_terminal(err) and not wanted.quiet
        self._names_tools = (self._is_shown or wanted.verbose) and not wanted.quiet
        self._quiet = wanted.quiet
        self._nobody_chose = False
        self._doing = "waiting"
        self._since = time.monotonic()
        self._is_drawn = False
        self.model = ""

    @property
    def is_heard(self) -> bool:
        return not self._quiet

    def name_models(self, config: Config | None, *, chosen: bool) -> None:
        """Whether somebody chose who answers; if not, it is said once it is known."""
        providers = set(config.providers) if config else {""}
        self._nobody_chose = not chosen and providers <= {"offline"}

    def accepted(self, run_id: str, session_id: str) -> None:
        self._printer.accepted(run_id, session_id)

    def tell(self, news: News) -> None:
        self._erase()
        self._printer.tell(news)
        match news:
            case Began(message):
                self._doing = "thinking"
                self.model = "/".join(part for part in (message.provider, message.model) if part)
                self._name_model(message)
            case More():
                # Text is its own progress: the spinner would only stand in its way.
                self._doing = ""
            case Called(_, call):
                self._doing = subject(call)
                if self._names_tools:
                    self._line(style(f"• {self._doing}", "dim", stream=self._err))
            case Used(result):
                self._doing = "thinking"
                if self._names_tools and result.is_error:
                    first = plain(result.content.strip().partition("\n")[0])
                    self._line(style(f"  {first}", "yellow", stream=self._err))
            case Moved(RunState.STOPPING):
                self._doing = "stopping; another ^C leaves at once"
            case _:
                pass

    def detached(self, run_id: str, session_id: str) -> Ending:
        """The run goes on without us; its id is what was asked for."""
        self._is_shown = False
        return Ending(run_id, session_id, "detached", 0, text=run_id)

    def ended(self, ending: Ending) -> None:
        self._erase()
        self._is_shown = False
        self._printer.ended(ending)
        if ending.error and ending.outcome not in ("completed", "folded"):
            self._line(f"turnkeeper: {plain(ending.error)}")
        elif ending.outcome == "cancelled" and not self._quiet:
            self._line("turnkeeper: cancelled")
        if ending.denied and not self._quiet:
            self._line(f"turnkeeper: not allowed: {plain(', '.join(ending.denied))}; --allow RULE allows it")

    def say(self, text: str) -> None:
        """A line about the run, for people."""
        if not self._quiet:
            self._line(f"turnkeeper: {plain(text)}")

    async def turn(self) -> None:
        """Turn the spinner, until cancelled."""
        if not self._is_shown:
            return
        for frame in itertools.cycle(FRAMES):
            await anyio.sleep(TICK_SECONDS)
            self.draw(frame)

    def draw(self, frame: str) -> None:
        """What is done now, on one line: one that is too long for the terminal could not be erased."""
        if self._doing and self._is_shown:
            clock = f" {time.monotonic() - self._since:.0f} s"
            doing = cut(self._doing, max(1, terminal_columns() - width(clock) - len(f"{frame} ") - 1))
            self._err.write(f"{ERASE}{frame} {doing}{clock}")
            self._err.flush()
            self._is_drawn = True

    def _name_model(self, message: Message) -> None:
        """Once, and only where nobody configured whoever answers."""
        if not self._nobody_chose or self._quiet:
            return
        self._nobody_chose = False
        if message.provider == "offline":
            self._line(f"turnkeeper: no model is configured, so the built-in offline assistant answers; {ADD_A_MODEL}")
        else:
            who = f"{message.model} of {message.provider}"
            self._line(f"turnkeeper: no model is configured; {who}, found on this computer, answers; {ADD_A_MODEL}")

    def _line(self, text: str) -> None:
        self._erase()
        self._err.write(text + "\n")
        self._err.flush()

    def _erase(self) -> None:
        if self._is_drawn:
            self._err.write(ERASE)
            self._err.flush()
            self._is_drawn = False
