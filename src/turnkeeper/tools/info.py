"""Tool `crush_info`: what this program is set to, in sections that never hold a secret.

The facts come from whoever knows them; here they are put in order, and what may be a secret is not shown.
"""

from collections.abc import Callable, Mapping, Sequence

from turnkeeper.tools.logs import is_secret_key
from turnkeeper.tools.making import Made, Parameters
from turnkeeper.tools.tool import Answer, Hands, Tool

SECTIONS = (
    "config_files",
    "config",
    "model",
    "providers",
    "lsp",
    "lsp_configured",
    "mcp",
    "mcp_configured",
    "skills",
    "hooks",
    "permissions",
    "tools",
    "options",
    "attribution",
)
HIDDEN = "[hidden]"

Facts = Mapping[str, Sequence[tuple[str, str]]]
"""For each section, its lines as key and value; a line without a value is the key alone."""


class InfoParameters(Parameters, frozen=True):
    pass


def info_tool(facts: Callable[[], Facts]) -> Tool:
    async def act(_asked: InfoParameters, _hands: Hands) -> Answer:
        return Answer(content=rendered(facts()))

    return Made("crush_info", InfoParameters, act)


def rendered(facts: Facts) -> str:
    """The sections in one order whatever order they came in; the empty ones are left out."""
    return "\n\n".join(
        "\n".join([f"[{name}]", *(line(key, value) for key, value in facts[name])])
        for name in (*SECTIONS, *sorted(set(facts) - set(SECTIONS)))
        if facts.get(name)
    )


def line(key: str, value: str) -> str:
    shown = HIDDEN if value and is_secret_key(key) else " ".join(value.split())
    return f"{key} = {shown}" if value else key
