"""Getting something from the web: within a time and a size, and not from the server's own network by accident.

A name is resolved once, its addresses are judged, and the connection goes to the address that was judged, so that a
name cannot lead elsewhere the second time it is asked for. An address of the server itself, of its neighbours or of a
cloud's metadata is reached only after somebody agreed to exactly that; so is each redirect to one.
"""

import ipaddress
import math
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit, urlunsplit

import anyio
import httpx2

from turnkeeper.tools.making import Refusal
from turnkeeper.tools.tool import Asking, Hands

REDIRECTS_MAX = 10
URL_CHARACTERS_MAX = 8000
RESOLVE_SECONDS_MAX = 10
AGENT = "turnkeeper/1.0"
BROWSER = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36"
REDIRECTS = frozenset({301, 302, 303, 307, 308})
# What belongs to the first host alone is not handed on to the next.
PRIVATE_HEADERS = frozenset({"authorization", "cookie"})

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]


async def resolved(host: str, port: int) -> Sequence[str]:
    """A name's addresses, as the system knows them."""
    found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(address[0]) for *_, address in found))


@dataclass(frozen=True)
class Web:
    """The way out; `resolve` and `transport` are replaced in tests."""

    resolve: Resolve = resolved
    transport: httpx2.AsyncBaseTransport | None = None

    @asynccontextmanager
    async def open(
        self,
        url: str,
        *,
        hands: Hands,
        tool: str,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        seconds: float,
    ) -> AsyncGenerator[httpx2.Response]:
        """The answer to a request, its body not yet read; redirects are followed, each judged anew."""
        try:
            with anyio.fail_after(seconds) as limit:
                async with httpx2.AsyncClient(
                    transport=self.transport, trust_env=False, timeout=httpx2.Timeout(seconds), follow_redirects=False
                ) as client:
                    errand = Errand(client, self.resolve, hands, tool, limit)
                    response = await errand.follow(Ask(checked(url), dict(headers or {}), body))
                    try:
                        yield response
                    finally:
                        with anyio.CancelScope(shield=True):
                            await response.aclose()
        except (TimeoutError, httpx2.TimeoutException) as error:
            raise Refusal(f"no answer within {seconds:g} s: {url}") from error
        except (httpx2.HTTPError, httpx2.StreamError) as error:
            raise Refusal(f"the request failed: {type(error).__name__}: {error}") from error


@dataclass(frozen=True)
class Ask:
    """One request: a GET, or with a body a POST."""

    url: str
    headers: Mapping[str, str]
    body: bytes | None

    def onward(self, url: str, *, same_method: bool) -> "Ask":
        """The request that a redirect asks for."""
        elsewhere = urlsplit(url).netloc != urlsplit(self.url).netloc
        kept = {key: text for key, text in self.headers.items() if not elsewhere or key.lower() not in PRIVATE_HEADERS}
        return Ask(url, kept, self.body if same_method else None)


@dataclass(frozen=True)
class Errand:
    """A request and its redirects, on behalf of one tool call."""

    client: httpx2.AsyncClient
    resolve: Resolve
    hands: Hands
    tool: str
    limit: anyio.CancelScope

    async def follow(self, ask: Ask) -> httpx2.Response:
        for _ in range(REDIRECTS_MAX + 1):
            response = await self.client.send(await self.pinned(ask), stream=True)
            onward = response.headers.get("location")
            if response.status_code not in REDIRECTS or not onward:
                return response
            await response.aclose()
            ask = ask.onward(checked(urljoin(ask.url, onward)), same_method=response.status_code in (307, 308))
        raise Refusal(f"more than {REDIRECTS_MAX} redirects")

    async def pinned(self, ask: Ask) -> httpx2.Request:
        """A request to the address that was judged, in the name of the host that was meant."""
        parts = urlsplit(ask.url)
        host = parts.hostname or ""
        address = await self.judged(ask.url, host, parts.port or (443 if parts.scheme == "https" else 80))
        there = f"[{address}]" if ":" in address else address
        name = f"[{host}]" if ":" in host else host
        port = f":{parts.port}" if parts.port else ""
        return self.client.build_request(
            "GET" if ask.body is None else "POST",
            urlunsplit((parts.scheme, there + port, parts.path or "/", parts.query, "")),
            headers={"User-Agent": AGENT, **ask.headers, "Host": name + port},
            content=ask.body,
            extensions={"sni_hostname": host} if parts.scheme == "https" else {},
        )

    async def judged(self, url: str, host: str, port: int) -> str:
        try:
            with anyio.fail_after(RESOLVE_SECONDS_MAX):
                addresses = await self.resolve(host, port)
        except (OSError, UnicodeError, TimeoutError) as error:
            raise Refusal(f"there is no such host: {host}") from error
        if not addresses:
            raise Refusal(f"there is no such host: {host}")
        if any(is_private(address) for address in addresses):
            # The time a person takes to answer is not the server's.
            left = self.limit.deadline - anyio.current_time()
            self.limit.deadline = math.inf
            await permit_private(url, addresses[0], self.hands, self.tool)
            self.limit.deadline = anyio.current_time() + left
        return addresses[0]


async def permit_private(url: str, address: str, hands: Hands, tool: str) -> None:
    """Asked with an action of its own: who allows a tool the web has not allowed it the server's own network."""
    await hands.permit(
        Asking(
            tool=tool,
            action="private_network",
            description=f"Reach {url} at {address}, an address of the server's own network",
            path=str(hands.workdir),
            subject=url,
            params={"url": url},
        )
    )


def is_private(address: str) -> bool:
    """Whether an address is anything but one of the public internet."""
    try:
        ip: Address = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return True
    inner = embedded(ip)
    return not ip.is_global or ip.is_multicast or (inner is not None and is_private(str(inner)))


def embedded(ip: Address) -> ipaddress.IPv4Address | None:
    """The address that another one carries, in which it would be reached after all."""
    if isinstance(ip, ipaddress.IPv4Address):
        return None
    if ip in ipaddress.ip_network("64:ff9b::/96"):
        return ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip.ipv4_mapped or ip.sixtofour


def checked(url: str) -> str:
    """A URL that can be asked for over HTTP."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise Refusal(f"this is not a URL: {url[:200]}") from error
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0 or len(url) > URL_CHARACTERS_MAX:
        raise Refusal(f"the URL must begin with http:// or https:// and name a host: {url[:200]}")
    if parts.username or parts.password:
        raise Refusal("a URL with a name or password in it is not fetched")
    return url


async def read_up_to(response: httpx2.Response, bytes_max: int) -> tuple[bytes, bool]:
    """The body's beginning, and whether there was more."""
    data = bytearray()
    async for chunk in response.aiter_bytes():
        data += chunk
        if len(data) > bytes_max:
            return bytes(data[:bytes_max]), True
    return bytes(data), False


def require_ok(response: httpx2.Response, url: str) -> None:
    if response.status_code != 200:
        raise Refusal(f"the server answered with status {response.status_code}: {url}")
