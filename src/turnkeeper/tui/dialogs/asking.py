"""Words about what is asked of a person: who asks, what for, for how long, and what became of it. Pure."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, cast

from textual.content import Content

from turnkeeper.client.known import Settled
from turnkeeper.client.view import View
from turnkeeper.protocol.wire_requests import PermissionRequest
from turnkeeper.tui.chat.code import highlighted_raw
from turnkeeper.tui.chat.diff_view import draw_change
from turnkeeper.tui.chat.diffs import ROWS_MAX, Change, compared
from turnkeeper.tui.chat.ink import Ink, Line, cleaned, folded, joined, one_line, styled, wrapped
from turnkeeper.tui.dialogs.choices import Choice
from turnkeeper.tui.side.activity import clock

TITLE_CELLS_MAX = 40
DEEDS = {
    "bash": "Run a command",
    "edit": "Change a file",
    "multiedit": "Change a file",
    "write": "Write a file",
    "view": "Read a file outside the workspace",
    "ls": "List a directory outside the workspace",
    "fetch": "Fetch an address",
    "agentic_fetch": "Research on the web",
    "download": "Download a file",
}
FILE_TOOLS = frozenset({"edit", "multiedit", "write"})

Name = Callable[[str], str]


def deed(request: PermissionRequest) -> str:
    """What is asked for, in a few words."""
    if request.tool_name.startswith("mcp_"):
        server, _, tool = request.tool_name.removeprefix("mcp_").partition("_")
        return f"Use {tool} of {server}"
    return DEEDS.get(request.tool_name, f"Use {request.tool_name}")


def asker(view: View, session_id: str, run_id: str, name_of: Name) -> str:
    """Who asks: the session, for a sub-agent also its parent, and whose prompt it works on."""
    session = view.sessions.get(session_id)
    title = quoted(session.title if session else "") or "a session"
    parent = view.sessions.get(session.parent_session_id) if session and session.parent_session_id else None
    run = view.runs.get(run_id)
    while run is not None and run.parent and run.parent in view.runs:
        run = view.runs[run.parent]
    whose = f", for {name_of(run.by)}" if run is not None and run.by else ""
    if parent is not None:
        return f"The sub-agent {title} of {quoted(parent.title) or 'a session'} asks{whose}"
    return f"{title[:1].upper()}{title[1:]} asks{whose}"


def quoted(title: str) -> str:
    said = one_line(title)
    said = said if len(said) <= TITLE_CELLS_MAX else f"{said[: TITLE_CELLS_MAX - 1]}…"
    return f"“{said}”" if said else ""


def left(expires_at: int, now: float) -> str:
    """How long an answer is waited for; nothing, where nobody said."""
    return f"{clock(expires_at / 1000 - now)} left" if expires_at else ""


def family_root(view: View, session_id: str) -> str:
    """The session that people see, of which this one is a part."""
    seen: set[str] = set()
    while session_id not in seen and (session := view.sessions.get(session_id)) and session.parent_session_id:
        seen.add(session_id)
        session_id = session.parent_session_id
    return session_id


def outcome(settled: Settled, name_of: Name) -> str:
    """What became of a request that others settled."""
    if not settled.by:
        return f"No answer is needed any more: {settled.reason or 'it was withdrawn'}."
    who = name_of(settled.by)
    match settled.granted:
        case True:
            did = "allowed it"
        case False:
            did = "denied it"
        case None:
            did = "answered"
    why = f": {one_line(settled.reason)}" if settled.reason else ""
    return f"{who[:1].upper()}{who[1:]} {did}{why}."


# Permissions


def choices_for(request: PermissionRequest) -> tuple[Choice, ...]:
    """The answers there are. What has no shape that could be told is allowed once or not at all."""
    is_ours = bool(request.digest)
    lasts = bool(request.rules) or not is_ours
    edits = (Choice("edits", "All edits", "e"),) if request.edits else ()
    return (
        Choice("once", "Allow", "a"),
        Choice("session", "Session", "s", lasts),
        *edits,
        Choice("workspace", "Workspace", "w", lasts and is_ours),
        Choice("always", "Always", "A", lasts and is_ours),
        Choice("deny", "Deny", "d"),
        Choice("reason", "Deny, why…", "r"),
    )


def meaning(choice: Choice, request: PermissionRequest) -> str:
    """What an answer does: with one that lasts, the very rule that is kept."""
    rules = ", ".join(map(one_line, request.rules)) or f"every use of {request.tool_name}"
    match choice.id:
        case "once" if request.digest and not request.rules:
            return "This call and no other. It has no shape that a rule could tell, so it can be allowed once only."
        case "once":
            return "This call and no other."
        case "session":
            return f"Not asked again in this session: {rules}"
        case "edits":
            said = ", ".join(map(one_line, request.edits))
            return f"Not asked again in this session, but for secrets, hooks and settings: {said}"
        case "workspace":
            return f"Not asked again in this workspace: {rules}"
        case "always":
            return f"Not asked again anywhere: {rules}"
        case "deny":
            return "The model is told no."
        case _:
            return "The model is told no, and why; it goes on with that."


def matter(request: PermissionRequest, ink: Ink) -> Sequence[Line]:
    """All of what is asked for, to be read in full."""
    params: Mapping[str, Any] = (
        cast("Mapping[str, Any]", request.params) if isinstance(request.params, dict) else _opened(request.params)
    )
    return [*_about(request, params, ink), *_shown(request, params, ink)]


def _about(request: PermissionRequest, params: Mapping[str, Any], ink: Ink) -> list[Line]:
    """What the server says of it: where a path leads, what a command would show, why a hook wants a person."""
    if not params or request.description == params.get("command"):
        return []
    rows = [one_line(row) for row in request.description.split("\n") if row.strip()]
    return [Line(part) for row in rows for part in wrapped(styled(row, "muted"), ink.width)]


def _shown(request: PermissionRequest, params: Mapping[str, Any], ink: Ink) -> Sequence[Line]:
    if request.tool_name == "bash":
        return _command(params, ink)
    if request.tool_name in FILE_TOOLS and ("old_content" in params or "new_content" in params):
        change = _changed(str(params.get("old_content", "")), str(params.get("new_content", "")))
        path = str(params.get("file_path", request.path))
        lines, _ = draw_change(change, ink, path=path, width=ink.width, rows_max=ROWS_MAX)
        head = joined(styled(one_line(ink.path(path)), "strong"), "  ", styled(f"+{change.added}", "good"), " ",
                      styled(f"-{change.removed}", "bad"))  # fmt: skip
        return [Line(head), *lines]
    return _pairs(params or {"what": request.description or request.subject}, ink)


@lru_cache(8)
def _changed(before: str, after: str) -> Change:
    return compared(before, after)


def _opened(params: Any) -> Mapping[str, Any]:
    """What an MCP tool is called with travels as text."""
    if not isinstance(params, str) or not params.strip():
        return {}
    try:
        read = json.loads(params)
    except ValueError:
        return {"input": params}
    return cast("Mapping[str, Any]", read) if isinstance(read, dict) else {"input": params}


def _command(params: Mapping[str, Any], ink: Ink) -> list[Line]:
    lines: list[Line] = []
    where = one_line(str(params.get("working_dir", "")))
    detached = "  in the background, and on when the workspace is closed" if params.get("detach") else ""
    behind = detached or ("  in the background" if params.get("run_in_background") else "")
    if where or behind:
        lines.append(Line(styled(f"in {where or 'the workspace'}{behind}", "muted")))
    for number, row in enumerate(highlighted_raw(str(params.get("command", "")), language="bash")):
        first = styled("$ " if number == 0 else "  ", "prompt")
        lines += [Line(joined(first if at == 0 else "  ", part)) for at, part in enumerate(folded(row, ink.width - 2))]
    return lines


def _pairs(params: Mapping[str, Any], ink: Ink) -> list[Line]:
    """Each parameter by its name; what is structured, as it is written."""
    lines: list[Line] = []
    for name, said in params.items():
        if said in ("", None, 0, False, [], {}):
            continue
        text = cleaned(said if isinstance(said, str) else json.dumps(said, indent=2, ensure_ascii=False))
        head = styled(f"{name}: ", "muted")
        rows = [row for line in text.split("\n") for row in folded(Content(line), ink.width - 2)]
        if len(rows) == 1 and head.cell_length + rows[0].cell_length <= ink.width:
            lines.append(Line(joined(head, rows[0])))
        else:
            lines += [Line(head), *(Line(joined("  ", row)) for row in rows)]
    return lines
