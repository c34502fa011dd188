"""The OpenAPI document, written from the same rows that answer requests."""

import functools
import html
import re
from typing import Any

import msgspec

from turnkeeper.protocol.wire_workspaces import ProblemBody
from turnkeeper.server.routing import Route

ALWAYS = (403, 500)
SAID = {
    400: "the request cannot be understood",
    401: "a token is needed",
    403: "the origin or the host is not allowed",
    404: "there is no such thing",
    408: "the body did not arrive in time",
    409: "it does not fit what is so",
    413: "the body is too large",
    429: "too much is waiting",
    500: "something is wrong with the server",
    502: "who else had to be asked did not answer",
    503: "it cannot be done now",
}


QUERY = {
    "after": "only what comes after this position: that of an event, which is its `id`, or one in a command's output",
    "batch_request_id": "the questions that are meant; without it, those that have waited longest",
    "client_id": "who asks: the UUID that the client has given itself",
    "detail": "`delta`: fragments and finished parts, runs and queues; without it, whole messages as in the original",
    "limit": "how many at most",
    "name": "the name of an MCP server",
    "offset": "minutes by which the asker's clock is ahead of UTC, for what belongs to which day",
    "path": "a file",
    "provider_id": "the provider that is meant",
    "q": "the words to look for",
    "receipt": "given, with any value: answer with what was stopped, once it has stopped",
    "session_id": "in this session alone",
    "since": "milliseconds since 1970: nothing older",
    "timeout": "how many seconds to wait, at most an hour; a minute, if it is not said",
}
LAST_EVENT_ID = {
    "name": "Last-Event-ID",
    "in": "header",
    "required": False,
    "schema": {"type": "string"},
    "description": "the `id` that was read last, as browsers say it by themselves; the same as `after`, and before it",
}
RUN_ID_HEADER = {"description": "the run's id, also where the client named none", "schema": {"type": "string"}}
EMPTY_UNLESS_ASKED = "the answer, if the query asks for it; otherwise nothing"


@functools.cache
def document(version: str) -> dict[str, Any]:
    from turnkeeper.server.routes import all_routes

    routes = all_routes()
    types = [kind for route in routes for kind in (route.body, route.gives) if kind is not None]
    schemas, components = msgspec.json.schema_components(
        [*types, ProblemBody], ref_template="#/components/schemas/{name}"
    )
    by_type = dict(zip([repr(kind) for kind in [*types, ProblemBody]], schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = operation(route, by_type)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Turnkeeper", "version": version, "description": "A coding agent that people share."},
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def operation(route: Route, by_type: dict[str, Any]) -> dict[str, Any]:
    answers: dict[str, Any] = {str(route.status): answered(route, by_type)}
    for status in sorted({*refusals(route)}):
        problem = {"application/json": {"schema": by_type[repr(ProblemBody)]}}
        answers[str(status)] = {"description": SAID[status], "content": problem}
    said: dict[str, Any] = {
        "operationId": f"{route.method.lower()}{re.sub('[^a-z]+', '_', route.path)}",
        "summary": route.says,
        "tags": ["own" if route.own else "original"],
        "parameters": parameters(route),
        "responses": answers,
    }
    if route.body is not None:
        content = {"application/json": {"schema": by_type[repr(route.body)]}}
        said["requestBody"] = {"required": route.body_required, "content": content}
    return said


def answered(route: Route, by_type: dict[str, Any]) -> dict[str, Any]:
    if route.streams:
        return {"description": "events", "content": {"text/event-stream": {}}}
    if route.status == 202:
        return {
            "description": "accepted: it is on disk, and will end once",
            "headers": {"Turnkeeper-Run-Id": RUN_ID_HEADER},
        }
    if route.gives is None:
        return {"description": "done"}
    said = EMPTY_UNLESS_ASKED if route.gives_if_asked else "the answer"
    return {"description": said, "content": {"application/json": {"schema": by_type[repr(route.gives)]}}}


def refusals(route: Route) -> set[int]:
    statuses = {*route.refuses, *ALWAYS, 401}
    if "{" in route.path:
        statuses |= {404}
    if "{" in route.path or route.body is not None or route.query or route.query_required:
        statuses |= {400}
    if route.body is not None:
        statuses |= {400, 408, 413, 503}
    if route.method != "GET":
        statuses |= {503, 409}
    return statuses


def parameters(route: Route) -> list[dict[str, Any]]:
    text = {"type": "string"}
    inside = [
        {"name": name, "in": "path", "required": True, "schema": text} for name in re.findall(r"{(\w+)}", route.path)
    ]
    asked = [
        {
            "name": name,
            "in": "query",
            "required": name in route.query_required,
            "schema": text,
            "description": QUERY[name],
        }
        for name in (*route.query_required, *route.query)
    ]
    return [*inside, *asked, *([LAST_EVENT_ID] if route.streams else [])]


def page(described: dict[str, Any]) -> bytes:
    """The document as a page that needs nothing from anywhere."""
    rows = [
        f"<tr><td><code>{method.upper()}</code></td><td><code>{html.escape(path)}</code></td>"
        f"<td>{html.escape(said['summary'])}</td><td>{said['tags'][0]}</td></tr>"
        for path, methods in described["paths"].items()
        for method, said in methods.items()
    ]
    style = "body{font:15px system-ui;margin:2rem;max-width:70rem}td{padding:.2rem .8rem;vertical-align:top}"
    return (
        f"<!doctype html><meta charset=utf-8><title>Turnkeeper</title><style>{style}</style><h1>Turnkeeper</h1>"
        f'<p>All of it, with types: <a href="doc.json">doc.json</a></p><table>{"".join(rows)}</table>'
    ).encode()
