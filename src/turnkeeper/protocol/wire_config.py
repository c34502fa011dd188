"""Where a workspace's configuration stands: what it was read from, what is wrong with it, and what waits for trust.

Only our own clients ask for this. Nothing in it is a value, so that there is nothing in it to hide.
"""

import msgspec


class ConfigNotice(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something a person should know about what was set. `line` is 0 where the place is not a line of a file."""

    message: str = msgspec.field(default_factory=str)
    path: str = ""
    line: int = 0

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place}: {self.message}" if place else self.message


class ConfigWaiting(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is set aside until a person trusts exactly this content. Without keys, the file is a script."""

    path: str = msgspec.field(default_factory=str)
    digest: str = msgspec.field(default_factory=str)
    keys: tuple[str, ...] = ()


class ConfigState(msgspec.Struct, frozen=True):
    """With a `problem`, the settings of before go on to hold."""

    files: tuple[str, ...] = ()
    notices: tuple[ConfigNotice, ...] = ()
    waiting: tuple[ConfigWaiting, ...] = ()
    problem: str = ""


class ConfigTrust(msgspec.Struct, frozen=True):
    """A person says that they trust this content of this file; or, without a digest, that they no longer do."""

    path: str = msgspec.field(default_factory=str)
    digest: str = ""
