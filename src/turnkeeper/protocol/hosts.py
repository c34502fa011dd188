"""Where a server listens and a client looks: `unix:///path` or `tcp://host:port`."""

import ipaddress

import msgspec

from turnkeeper.protocol.problems import Problem


class BadHost(Problem):
    """The host is not one this program can use."""

    status = 400


class Host(msgspec.Struct, frozen=True):
    scheme: str
    address: str

    def __str__(self) -> str:
        return f"{self.scheme}://{self.address}"

    @property
    def name(self) -> str:
        return self.address.rpartition(":")[0].strip("[]")

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    @property
    def is_unix(self) -> bool:
        return self.scheme == "unix"

    @property
    def is_local(self) -> bool:
        """Whether only this computer can reach it."""
        return self.is_unix or is_loopback(self.name)


def is_loopback(name: str) -> bool:
    try:
        return name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def parse_host(text: str) -> Host:
    scheme, found, address = text.partition("://")
    if not found or not address:
        raise BadHost(f"invalid host format: {text}")
    if scheme == "unix":
        return Host(scheme, address)
    if scheme != "tcp":
        raise BadHost(f"cannot use {scheme}://; use unix:///path or tcp://host:port")
    address = address.partition("/")[0]
    name, _, port = address.rpartition(":")
    if not name or not port.isdigit() or int(port) > 65535:
        raise BadHost(f"{text} needs a host and a port: tcp://127.0.0.1:4096")
    return Host(scheme, address)
