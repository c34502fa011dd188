"""How Gemini is reached: with a key at Google, or at Vertex; and how one talk with it is hung up."""

import re
from typing import Any

import httpx2

from turnkeeper.models.connection import READ_SECONDS_MAX, Connection, Voice
from turnkeeper.models.loading import library
from turnkeeper.models.model import ModelTrouble, Question, Trouble
from turnkeeper.models.troubles import require_stream

VERSION = re.compile(r"v\d+((alpha|beta)\d*)?")


class Line(httpx2.AsyncBaseTransport):
    """Owns the answers one question got over a shared client, so that they can be hung up.

    The SDK's generators hold one another in a circle: closing the outermost leaves the connection to the garbage
    collector, which is late.
    """

    def __init__(self, http: httpx2.AsyncClient) -> None:
        self._http = http
        self._responses: list[httpx2.Response] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._http.send(request, stream=True)
        self._responses.append(response)
        return httpx2.Response(response.status_code, headers=response.headers, stream=response.stream)

    def require_stream(self, connection: Connection) -> None:
        for response in self._responses[-1:]:
            require_stream(response, connection)

    async def aclose(self) -> None:
        for response in self._responses:
            await response.aclose()


async def google_client(voice: Voice, question: Question, line: Line) -> Any:
    """The SDK's client over our own line, which also keeps it from retrying."""
    genai = await library("google.genai")
    connection = voice.connection
    options: dict[str, Any] = {
        "httpx_async_client": httpx2.AsyncClient(transport=line, trust_env=False),
        "headers": voice.session_headers(question),
        "timeout": int(READ_SECONDS_MAX * 1000),
    }
    if connection.base_url:
        base_url, version = split_version(connection.base_url)
        options |= {"base_url": base_url, **({"api_version": version} if version else {})}
    if connection.extra_body:
        options["extra_body"] = dict(connection.extra_body)
    return genai.Client(http_options=options, **google_identity(connection))


def split_version(base_url: str) -> tuple[str, str]:
    """A URL such as `https://host/v1beta` names the version, which the SDK wants to be told apart."""
    head, _, last = base_url.rstrip("/").rpartition("/")
    return (head, last) if VERSION.fullmatch(last) else (base_url, "")


def google_identity(connection: Connection) -> dict[str, Any]:
    if connection.type != "google-vertex":
        return {"api_key": connection.api_key or "none", "vertexai": False}
    project = connection.environment.get("VERTEXAI_PROJECT")
    location = connection.environment.get("VERTEXAI_LOCATION")
    if connection.api_key:
        return {"api_key": connection.api_key, "vertexai": True}
    if not project or not location:
        raise ModelTrouble(
            Trouble.REFUSED, "Vertex needs VERTEXAI_PROJECT and VERTEXAI_LOCATION", title="Not Configured"
        )
    return {"vertexai": True, "project": project, "location": location}
