"""The OpenAPI document, and a page that shows it."""

from typing import Any

from turnkeeper.server.openapi import document, page
from turnkeeper.server.routing import Route
from turnkeeper.server.visit import Reply, Visit, json

HTML = b"text/html; charset=utf-8"


async def described(visit: Visit) -> Reply:
    return json(document(visit.reception.build.version))


async def shown(visit: Visit) -> Reply:
    return Reply(200, page(document(visit.reception.build.version)), HTML)


ROUTES = (
    Route("GET", "/v1/docs/", shown, "This document, to read."),
    Route("GET", "/v1/docs/index.html", shown, "This document, to read."),
    Route("GET", "/v1/docs/doc.json", described, "This document.", gives=dict[str, Any]),
    Route("GET", "/v1/openapi.json", described, "This document.", gives=dict[str, Any], own=True),
)
