"""A tool that asks before it acts, a script that uses it, and short words for answering it over HTTP."""

from collections.abc import Mapping
from typing import Any

from turnkeeper.models.scripted import CallTool, Say, Turn, turn
from turnkeeper.protocol.requests import Answers, Question, QuestionType
from turnkeeper.testing.bridge import Events
from turnkeeper.testing.front import Client
from turnkeeper.testing.scene import PlainTool
from turnkeeper.tools.tool import Asking, Call, Hands


def shell(acts: list[str], *, env: list[str] | None = None) -> PlainTool:
    """It notes each command line that it was allowed to act on, and what it found in its environment."""

    async def act(call: Call, hands: Hands) -> str:
        line = str(call.input["command"])
        await hands.permit(Asking("bash", "execute", line, str(hands.workdir), line, {"command": line}))
        acts.append(line)
        if env is not None:
            env.append(hands.env.get("WHERE", ""))
        return f"ran {line}"

    return PlainTool("bash", act)


def writer(acts: list[str], name: str = "edit") -> PlainTool:
    async def act(call: Call, hands: Hands) -> str:
        path = str(call.input["path"])
        await hands.permit(Asking(name, "write", f"write {path}", path, path, {"file_path": path}))
        acts.append(path)
        return f"wrote {path}"

    return PlainTool(name, act)


def asker(said: list[Answers]) -> PlainTool:
    async def act(call: Call, hands: Hands) -> str:
        questions = [Question("q1", QuestionType.YES_NO, str(call.input["ask"]))]
        said.append(await hands.question(questions))
        return "asked"

    return PlainTool("question", act)


def running(*lines: str) -> list[Turn]:
    """A script that runs each command line in a step of its own, and then says that it is done."""
    return [*(using("bash", {"command": line}, f"c{at}") for at, line in enumerate(lines)), turn(Say("done"))]


def using(tool: str, given: Mapping[str, Any], call: str = "c0") -> Turn:
    return turn(CallTool(call, tool, dict(given)))


async def answer(client: Client, asked: Any, action: str, **more: Any) -> Any:
    """A client's answer to the request it was shown."""
    body = {"permission": {key: asked[key] for key in ECHOED}, "action": action, **more}
    return (await client.http.post(client.path("/permissions/grant"), body, x_client_id=client.id)).json()


ECHOED = ("id", "session_id", "tool_call_id", "tool_name", "description", "action", "params", "path")


async def prompted(client: Client, text: str, run_id: str = "", *, session: str = "", **options: Any) -> str:
    """Submit in the client's own name; returns the session."""
    session = session or await client.session()
    body: dict[str, Any] = {"session_id": session, "prompt": text, "run_id": run_id}
    answered = await client.http.post(
        client.path("/agent"), {**body, **({"options": options} if options else {})}, x_client_id=client.id
    )
    assert answered.status == 202, answered.body
    return session


async def ended(client: Client, run_id: str) -> Any:
    return (await client.http.get(client.path(f"/runs/{run_id}/wait?timeout=10"))).json()


async def asked_for(events: Events, **wanted: Any) -> Any:
    return await events.next("permission_request", **wanted)


async def results(client: Client, session: str) -> list[str]:
    """What the model was told its calls came to."""
    return [
        part["data"]["content"]
        for message in await client.messages(session)
        for part in message["parts"]
        if part["type"] == "tool_result"
    ]


async def audit(client: Client) -> list[tuple[str, str, str]]:
    entries = (await client.http.get(client.path("/permissions/audit"))).json()
    return [(entry["subject"] or entry["tool"], entry["decision"], entry["by"]) for entry in entries]
