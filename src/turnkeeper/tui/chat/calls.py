"""Where each tool call of a message stands, from its result, the requests that wait, and whether its run goes on."""

from collections.abc import Iterable, Mapping, Sequence

from turnkeeper.client.view import View
from turnkeeper.protocol.messages import ToolCall, ToolResult
from turnkeeper.tui.chat.items import Standing

BESIDE_OTHERS = frozenset(
    {
        *("agent", "agentic_fetch", "download", "fetch", "list_mcp_resources", "read_mcp_resource"),
        *("sourcegraph", "web_fetch", "web_search"),
    }
)
"""Tools of which several run at once."""

_ENDS: Sequence[tuple[Standing, tuple[str, ...]]] = (
    (Standing.CANCELLED, ("Error: user cancelled assistant tool calling",)),
    (Standing.INTERRUPTED, ("Error: the server stopped before this tool had finished",)),
    (Standing.UNUSED, ("The turn ended before this tool was used",)),
    (Standing.DENIED, ("User denied permission", "Permission denied", "Tool call blocked by hook", "Turn halted by")),
)


def ended(result: ToolResult) -> Standing:
    """What became of a call that has its result."""
    if not result.is_error:
        return Standing.DONE
    for standing, beginnings in _ENDS:
        if result.content.startswith(beginnings):
            return standing
    return Standing.FAILED


def standings(
    calls: Sequence[ToolCall],
    results: Mapping[str, ToolResult],
    *,
    waiting: Mapping[str, Standing],
    showing: Iterable[str],
    goes_on: bool,
) -> dict[str, Standing]:
    """By call id. Of the calls without a result the first is running, and beside it those that may overlap with it."""
    found: dict[str, Standing] = {}
    shown = frozenset(showing)
    before: ToolCall | None = None
    is_blocked = False
    for call in calls:
        result = results.get(call.id)
        if result is not None:
            found[call.id] = ended(result)
            continue
        overlaps = before is None or {before.name, call.name} <= BESIDE_OTHERS
        is_blocked = is_blocked or not overlaps
        found[call.id] = _open(call, waiting, goes_on=goes_on, begun=call.id in shown or not is_blocked)
        before = call
    return found


def _open(call: ToolCall, waiting: Mapping[str, Standing], *, goes_on: bool, begun: bool) -> Standing:
    if call.id in waiting:
        return waiting[call.id]
    if not goes_on:
        return Standing.INTERRUPTED
    return Standing.RUNNING if call.finished and begun else Standing.PENDING


def waiting_in(view: View, session_id: str) -> dict[str, Standing]:
    """The calls of a session that somebody has to answer first."""
    asked = {p.tool_call_id: Standing.WAITING for p in view.permissions.values() if p.session_id == session_id}
    return asked | {q.tool_call_id: Standing.ASKING for q in view.questions.values() if q.session_id == session_id}
