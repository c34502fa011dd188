"""Where things lie: our own directories, the socket, the data of a workspace, and the original's files.

Every function takes the environment it should believe and asks no other. `Dirs` says where our things are;
`crush_…` say where the original keeps its files, which we read and never write.
"""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

NAME = "turnkeeper"
DATA_DIR_NAME = ".turnkeeper"
CRUSH_DATA_DIR_NAME = ".crush"
SOCKET_PATH_BYTES_MAX = 104
"""The shortest `sun_path` among the systems we run on."""

Environment = Mapping[str, str]


class Dirs(msgspec.Struct, frozen=True):
    """The directories of one person on one machine. None of them need exist."""

    config: Path
    """What a person writes: `turnkeeper.toml`, `commands/`, `skills/`, `ignore`."""
    data: Path
    """What we write for all workspaces: `turnkeeper.toml`, `trusted.json`, the catalogue."""
    cache: Path
    """What can be lost: logs of servers, downloads."""
    runtime: Path
    """Sockets and discovery records."""
    system: Path = Path("/etc") / NAME


def find_dirs(env: Environment) -> Dirs:
    """Our own variable first, then XDG's, then XDG's default."""
    return Dirs(
        config=_own(env, "TURNKEEPER_CONFIG_DIR") or xdg(env, "XDG_CONFIG_HOME", ".config") / NAME,
        data=_own(env, "TURNKEEPER_DATA_DIR") or xdg(env, "XDG_DATA_HOME", ".local/share") / NAME,
        cache=_own(env, "TURNKEEPER_CACHE_DIR") or xdg(env, "XDG_CACHE_HOME", ".cache") / NAME,
        runtime=_own(env, "TURNKEEPER_RUNTIME_DIR") or runtime_dir(env),
        system=_own(env, "TURNKEEPER_SYSTEM_DIR") or Path("/etc") / NAME,
    )


def home_dir(env: Environment) -> Path:
    return Path(env.get("HOME") or env.get("USERPROFILE") or Path.home())


def under_home(path: str, env: Environment) -> Path:
    """`~/x` in the home of whoever the environment belongs to, and a variable at the beginning in its place."""
    first, slash, rest = path.partition("/")
    if first == "~":
        return home_dir(env) / rest
    if first.startswith("$"):
        return Path(env.get(first[1:].strip("{}"), "") + slash + rest)
    return Path(path)


def xdg(env: Environment, variable: str, fallback: str) -> Path:
    """A relative path is invalid by the XDG specification, and is treated as if it were not set."""
    found = Path(env.get(variable, ""))
    return found if found.is_absolute() else home_dir(env) / fallback


def runtime_dir(env: Environment) -> Path:
    """`XDG_RUNTIME_DIR`, else the directory for temporary files."""
    return Path(env.get("XDG_RUNTIME_DIR") or env.get("TMPDIR") or "/tmp")


def default_host(env: Environment) -> str:
    """The address on which a server listens and a client looks when nobody says otherwise."""
    socket = f"{NAME}-{os.getuid()}.sock"
    path = (_own(env, "TURNKEEPER_RUNTIME_DIR") or runtime_dir(env)) / socket
    if len(os.fsencode(path)) > SOCKET_PATH_BYTES_MAX:
        path = Path("/tmp") / socket
    return f"unix://{path}"


def state_dir(env: Environment) -> Path:
    """What a face keeps for the next time, such as drafts. Another computer has no use for it."""
    return _own(env, "TURNKEEPER_STATE_DIR") or xdg(env, "XDG_STATE_HOME", ".local/state") / NAME


def server_dir(env: Environment, host: str) -> Path:
    """What belongs to the server at a host: its log, and the lock under which it is started."""
    return find_dirs(env).cache / ("server-" + re.sub(r"[^a-zA-Z0-9._-]", "_", host))


def crush_config_dir(env: Environment) -> Path:
    return _own(env, "CRUSH_GLOBAL_CONFIG") or xdg(env, "XDG_CONFIG_HOME", ".config") / "crush"


def crush_data_dir(env: Environment) -> Path:
    return _own(env, "CRUSH_GLOBAL_DATA") or xdg(env, "XDG_DATA_HOME", ".local/share") / "crush"


def crush_system_dir(env: Environment) -> Path:
    """Beside ours, so that whoever moves the one moves the other."""
    return find_dirs(env).system.parent / "crush"


def project_dirs(workdir: Path) -> tuple[Path, ...]:
    """The directories whose files speak for `workdir`, outermost first: from the project's root down to `workdir`.

    The root is the nearest directory with a `.git` in it. Without one the project is `workdir` alone: a file in a
    shared parent such as `/tmp` must not speak for everybody below it.
    """
    upward = list(_owned_upward(workdir))
    for count, folder in enumerate(upward, start=1):
        if (folder / ".git").exists():
            return tuple(reversed(upward[:count]))
    return (workdir,)


def find_data_dir(workdir: Path, *, given: Path | None = None, name: str = DATA_DIR_NAME) -> Path:
    """Where a workspace keeps its data: as told, else the project's nearest one, else beside its files."""
    if given:
        return Path(os.path.normpath(workdir / given))
    for folder in reversed(project_dirs(workdir)):
        if (folder / name).is_dir():
            return folder / name
    return workdir / name


def _own(env: Environment, variable: str) -> Path | None:
    value = env.get(variable, "")
    return Path(value).absolute() if value else None


def _owned_upward(workdir: Path) -> Iterator[Path]:
    """`workdir` and its parents, until one belongs to somebody else than `workdir` does."""
    owner = _owner(workdir)
    for folder in (workdir, *workdir.parents):
        if _owner(folder) != owner:
            return
        yield folder


def _owner(folder: Path) -> int | None:
    try:
        return folder.stat().st_uid
    except OSError:
        return None
