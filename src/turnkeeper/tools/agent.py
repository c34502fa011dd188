"""Tool `agent`: a question for a sub-agent that may look but not touch."""

from typing import Annotated

from msgspec import Meta

from turnkeeper.tools.making import Made, Parameters, Refusal, failed
from turnkeeper.tools.tool import Answer, Hands, Tool

TITLE = "New Agent Session"


class AgentParameters(Parameters, frozen=True):
    prompt: Annotated[str, Meta(description="What the agent shall find out, with all it needs to know.")]


def agent_tool() -> Tool:
    async def act(asked: AgentParameters, hands: Hands) -> Answer:
        if not asked.prompt.strip():
            raise Refusal("prompt is empty")
        text = await hands.delegate(asked.prompt, title=TITLE, kind="task")
        return Answer(content=text) if text.strip() else failed("Sub-agent completed but produced no text output.")

    return Made("agent", AgentParameters, act, parallel=True)
