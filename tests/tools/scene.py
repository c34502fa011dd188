"""A tool, a call and what came of it, in one line of a test."""

import json
from pathlib import Path
from typing import Any

from turnkeeper.protocol.ids import ToolCallId
from turnkeeper.testing.hands import FakeHands
from turnkeeper.tools.tool import Answer, Call, Tool


async def use(tool: Tool, hands: FakeHands, **given: Any) -> Answer:
    return await tool.use(Call(id=ToolCallId("call-1"), name=tool.name, input=given), hands)


def metadata(answer: Answer) -> dict[str, Any]:
    return json.loads(answer.metadata)


def deeds(hands: FakeHands) -> list[str]:
    return [deed.what for deed in hands.deeds]


def lines(count: int) -> str:
    return "".join(f"line {number}\n" for number in range(1, count + 1))


def tree(root: Path, *names: str) -> None:
    """Files under a folder, each holding its own name."""
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{name}\n")


def names(folder: Path) -> list[str]:
    """What is in a folder."""
    return sorted(path.name for path in folder.iterdir())
