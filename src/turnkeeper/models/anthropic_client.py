"""How Claude is reached: at Anthropic, at anyone who speaks like it, at Bedrock, or at Vertex."""

import importlib.util
from typing import Any

import httpx2

from turnkeeper.models.connection import CONNECT_SECONDS, READ_SECONDS_MAX, WRITE_SECONDS, Connection
from turnkeeper.models.loading import library
from turnkeeper.models.model import ModelTrouble, Trouble
from turnkeeper.models.quirks import Quirks

TIMEOUT = httpx2.Timeout(READ_SECONDS_MAX, connect=CONNECT_SECONDS, write=WRITE_SECONDS, pool=CONNECT_SECONDS)
BEDROCK_REGIONS = {"bedrock": "us-east-1", "bedrock-europe": "eu-west-1"}


async def anthropic_client(connection: Connection, quirks: Quirks, http: httpx2.AsyncClient) -> Any:
    """The SDK's client over our own HTTP client, without retries of its own."""
    anthropic = await library("anthropic")
    shared: dict[str, Any] = {"timeout": TIMEOUT, "max_retries": 0, "http_client": http}
    known = connection.environment
    if connection.type in BEDROCK_REGIONS:
        await require_aws()
        return anthropic.AsyncAnthropicBedrock(
            aws_region=known.get("AWS_REGION") or known.get("AWS_DEFAULT_REGION") or BEDROCK_REGIONS[connection.type],
            base_url=connection.base_url or None,
            **aws_credentials(connection),
            **shared,
        )
    if connection.type == "vertex-anthropic":
        project, location = known.get("VERTEXAI_PROJECT"), known.get("VERTEXAI_LOCATION")
        if not project or not location:
            raise ModelTrouble(
                Trouble.REFUSED, "Vertex needs VERTEXAI_PROJECT and VERTEXAI_LOCATION", title="Not Configured"
            )
        return anthropic.AsyncAnthropicVertex(
            project_id=project,
            region=location,
            access_token=connection.api_key or None,
            base_url=connection.base_url or None,
            **shared,
        )
    base_url = (connection.base_url or quirks.base_url).rstrip("/").removesuffix("/v1")
    if connection.bearer or connection.provider.startswith("minimax"):
        token = connection.bearer or connection.api_key
        client = anthropic.AsyncAnthropic(base_url=base_url, auth_token=token, **shared)
        client.api_key = None
        return client
    # Others who speak this dialect learned it when the key had a header of its own.
    old = {} if base_url == quirks.base_url else {"x-api-key": connection.api_key}
    key = connection.api_key or "none"
    client = anthropic.AsyncAnthropic(base_url=base_url, api_key=key, default_headers=old, **shared)
    client.auth_token = None
    return client


async def require_aws() -> None:
    """AWS's own library: it signs requests, and reads the frames in which answers come even to a key."""
    if importlib.util.find_spec("boto3") is None:
        raise ModelTrouble(
            Trouble.REFUSED, "Bedrock needs AWS's library boto3: install turnkeeper[bedrock]", title="Library Missing"
        )
    await library("botocore.eventstream")
    await library("botocore.parsers")


def aws_credentials(connection: Connection) -> dict[str, str]:
    """A Bedrock key, or what AWS's own library needs to sign with: named credentials, else whatever chain it finds."""
    known = connection.environment
    if key := connection.bearer or connection.api_key or known.get("AWS_BEARER_TOKEN_BEDROCK"):
        return {"api_key": key}
    names = {
        "aws_access_key": "AWS_ACCESS_KEY_ID",
        "aws_secret_key": "AWS_SECRET_ACCESS_KEY",
        "aws_session_token": "AWS_SESSION_TOKEN",
        "aws_profile": "AWS_PROFILE",
    }
    return {argument: known[name] for argument, name in names.items() if known.get(name)}
