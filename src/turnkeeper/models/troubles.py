"""Foreign failures become ours: one place that says what a status, a lost socket or a provider's own words mean."""

import json
import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any, cast
from urllib.parse import urlsplit

import httpx2

from turnkeeper.models.connection import Connection
from turnkeeper.models.model import Chunk, Finished, ModelTrouble, Trouble

log = logging.getLogger(__name__)

MESSAGE_CHARACTERS_MAX = 2000

NO_STREAMS = {"text/html": "a web page", "application/json": "a document"}

CONTEXT_FULL_WORDS = (
    "context length",
    "context window",
    "context size",
    "context_length",
    "context_window",
    "exceed_context",
    "maximum context",
    "prompt is too long",
    "input is too long",
    "too many tokens",
    "input token count",
    "reduce the length",
    "request_too_large",
)
BUSY_WORDS = (
    "overloaded",
    "rate_limit",
    "rate limit",
    "server_error",
    "internal_error",
    "api_error",
    "timeout",
    "throttl",
    "unavailable",
    "internalserver",
    "modelstreamerror",
    "resource_exhausted",
)
NO_MONEY_WORDS = ("insufficient_quota", "billing_hard_limit", "credit balance is too low")
EXPIRED_WORDS = ("expiredtoken", "unrecognizedclient", "security token included in the request")
"""AWS answers 403 where others say 401."""
AUTH_WORDS = ("authentication_error", "invalid_api_key", "unauthenticated")


async def spoken(chunks: AsyncGenerator[Chunk, None], connection: Connection) -> AsyncGenerator[Chunk, None]:
    """What a dialect says, with the promises of the port: one `Finished` at the end, every failure a `ModelTrouble`."""
    async with aclosing(chunks):
        try:
            async for chunk in chunks:
                yield chunk
                if isinstance(chunk, Finished):
                    return
        except ModelTrouble:
            raise
        # A stranger's library ends here, and what it may raise is its own affair.
        except Exception as error:
            raise trouble_of(error, connection) from error
    raise ModelTrouble(Trouble.CUT, f"{connection.provider} stopped in the middle of its answer")


def trouble_of(error: Exception, connection: Connection) -> ModelTrouble:
    """What went wrong, told in the provider's own words without our key in them."""
    response = getattr(error, "response", None)
    transport = transport_trouble(error)
    if transport is not None:
        tells_where = transport is Trouble.UNREACHABLE and connection.base_url
        where = f" at {without_secrets(connection.base_url)}" if tells_where else ""
        words = words_of(deepest(error))
        return ModelTrouble(transport, connection.scrub(f"{connection.provider}{where}: {words}"))
    body = getattr(error, "body", None) or getattr(error, "details", None)
    status = int(getattr(error, "status_code", 0) or getattr(error, "code", 0) or 0) if is_numbered(error) else 0
    headers: Mapping[str, str] = getattr(response, "headers", {})
    message = message_in(body) or getattr(error, "message", "") or words_of(error)
    kind = f"{type_in(body)} {message}"
    if not status and is_unreadable(error):
        log.warning("unreadable answer", extra={"provider": connection.provider, "error": repr(type(error))})
        return ModelTrouble(Trouble.CUT, f"{connection.provider} sent something that cannot be read")
    if not status and is_about_credentials(error):
        return ModelTrouble(Trouble.AUTH, connection.scrub(str(message)), title="Unauthorized")
    return refusal(connection, status=status, kind=kind, message=str(message), headers=headers)


def require_stream(response: Any, connection: Connection) -> None:
    """Asked when an answer ended without its end: a page or a document was none from the beginning."""
    kind = str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()
    if response.status_code < HTTPStatus.BAD_REQUEST and kind in NO_STREAMS:
        raise ModelTrouble(
            Trouble.REFUSED,
            f"{connection.provider} answered with {NO_STREAMS[kind]} instead of a stream of events; its base_url is "
            f"perhaps not that of an API: {without_secrets(connection.base_url)}",
            title="No Stream",
        )


def without_secrets(url: str) -> str:
    """The place alone: keys may stand before it or behind it."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}{parts.path}"


def refusal(
    connection: Connection,
    *,
    status: int,
    kind: str,
    message: str,
    headers: Mapping[str, str] | None = None,
) -> ModelTrouble:
    """A provider's no. `kind` is everything it said that may tell what sort of no it is."""
    found = headers or {}
    return ModelTrouble(
        judged(status, kind.lower(), again=found.get("x-should-retry", "").lower() == "true"),
        connection.scrub(message)[:MESSAGE_CHARACTERS_MAX] or f"{connection.provider} refused",
        title=title_of(status),
        status=status,
        retry_after_seconds=retry_after(found),
    )


def judged(status: int, kind: str, *, again: bool = False) -> Trouble:
    """What sort of trouble: the provider's word where it has one, else the number."""
    if any(word in kind for word in NO_MONEY_WORDS):
        return Trouble.REFUSED
    # Mid-stream errors come with the 200 the stream began with, so below 400 only the words count.
    if status in (0, 200, 400, 413) and any(word in kind for word in CONTEXT_FULL_WORDS):
        return Trouble.CONTEXT_FULL
    if status == HTTPStatus.FORBIDDEN and has(kind, EXPIRED_WORDS):
        return Trouble.AUTH
    if status == HTTPStatus.UNAUTHORIZED or (status < HTTPStatus.BAD_REQUEST and has(kind, AUTH_WORDS)):
        return Trouble.AUTH
    if again or status in (408, 409, 429) or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return Trouble.BUSY
    if status < HTTPStatus.BAD_REQUEST and has(kind, BUSY_WORDS):
        return Trouble.BUSY
    return Trouble.REFUSED


def has(text: str, words: tuple[str, ...]) -> bool:
    return any(word in text for word in words)


def transport_trouble(error: BaseException) -> Trouble | None:
    """What happened to the socket, if that is what happened; SDKs wrap it, so the causes are asked too."""
    match deepest(error):
        case httpx2.ConnectError() | httpx2.ConnectTimeout() | httpx2.UnsupportedProtocol() | httpx2.ProxyError():
            return Trouble.UNREACHABLE
        case httpx2.PoolTimeout():
            return Trouble.BUSY
        case httpx2.TimeoutException():
            return Trouble.SILENT
        case httpx2.TransportError() | httpx2.StreamError() | EOFError() | ConnectionError():
            return Trouble.CUT
        case _:
            return None


def deepest(error: BaseException) -> BaseException:
    """The first cause that is the transport's, or the error itself."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, httpx2.TransportError | httpx2.StreamError | EOFError | ConnectionError):
            return cause
        cause = cause.__cause__
    return error


def is_unreadable(error: Exception) -> bool:
    """Whether bytes were not what their dialect promises, whatever the SDK stumbled over: as good as lost, and worth
    another try."""
    stumbled = isinstance(error, ValueError | LookupError | TypeError | AttributeError)
    return stumbled or type(error).__module__ == "botocore.eventstream"


def is_about_credentials(error: Exception) -> bool:
    """Whether a library that looks for credentials on this computer found none that hold."""
    looking = type(error).__module__ in ("botocore.exceptions", "google.auth.exceptions")
    return looking or "could not resolve" in str(error).lower()


def is_numbered(error: Exception) -> bool:
    numbers: tuple[object, ...] = (getattr(error, "status_code", None), getattr(error, "code", None))
    return any(isinstance(number, int) or (isinstance(number, str) and number.isdigit()) for number in numbers)


def message_in(body: object) -> str:
    """The sentence in an error body, wherever this provider puts it."""
    data = as_data(body)
    if isinstance(data, list):
        items = cast("list[object]", data)
        return message_in(items[0]) if items else ""
    if not isinstance(data, dict):
        return data if isinstance(data, str) else ""
    fields = cast("dict[str, object]", data)
    if isinstance(fields.get("error"), dict | list):
        return message_in(fields["error"])
    said = (fields.get(key) for key in ("message", "error", "detail"))
    return next((text for text in said if isinstance(text, str)), "")


def type_in(body: object) -> str:
    """Every name the body gives its error: type, code and status."""
    data = as_data(body)
    if not isinstance(data, dict):
        return ""
    fields = cast("dict[str, Any]", data)
    names = " ".join(str(fields[key]) for key in ("type", "code", "status") if fields.get(key))
    return f"{names} {type_in(fields['error'])}" if isinstance(fields.get("error"), dict) else names


def as_data(body: object) -> object:
    if not isinstance(body, str | bytes):
        return body
    try:
        return json.loads(body)
    except ValueError:
        return body


def retry_after(headers: Mapping[str, str]) -> float | None:
    """How long the provider asks us to wait: `retry-after-ms`, or `retry-after` as seconds or as a date."""
    try:
        if milliseconds := headers.get("retry-after-ms"):
            return float(milliseconds) / 1000
        told = headers.get("retry-after")
        if not told:
            return None
        if told.replace(".", "", 1).isdigit():
            return float(told)
        return max(0.0, (parsedate_to_datetime(told) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return None


def title_of(status: int) -> str:
    try:
        return HTTPStatus(status).phrase.title() if status >= HTTPStatus.BAD_REQUEST else "Provider Error"
    except ValueError:
        return "Provider Error"


def words_of(error: BaseException) -> str:
    return str(error) or type(error).__name__
