"""The environment of a workspace: the client's own, with the project's `.env` under it and the configuration's over it.

Nothing here touches the environment of the server's process, so that two workspaces never see each other's keys.
"""

import re
from collections.abc import Mapping
from pathlib import Path

import msgspec

from turnkeeper.protocol.config import Config
from turnkeeper.settings.expansion import ExpansionFailed, expand
from turnkeeper.settings.reading import Tree
from turnkeeper.settings.settings import Database, Log, Notice, Runs, Server, Source, Waits

GROUPS: Mapping[str, type[msgspec.Struct]] = {
    "waits": Waits,
    "runs": Runs,
    "server": Server,
    "log": Log,
    "database": Database,
}
"""Our knobs: the table of the file and its type."""

PREFIXES = ("CRUSH_", "TURNKEEPER_")
OLD_NAMES = {
    "CRUSH_SERVER_IDLE_TIMEOUT": ("server", "idle_seconds"),
    "CRUSH_SERVER_DETACH_GRACE": ("server", "detach_grace_seconds"),
}
SWITCHES = {
    "DO_NOT_TRACK": "disable_metrics",
    "CRUSH_DISABLE_METRICS": "disable_metrics",
    "CRUSH_DISABLE_PROVIDER_AUTO_UPDATE": "disable_provider_auto_update",
    "CRUSH_DISABLE_DEFAULT_PROVIDERS": "disable_default_providers",
    "TURNKEEPER_DISABLE_METRICS": "disable_metrics",
    "TURNKEEPER_DISABLE_PROVIDER_AUTO_UPDATE": "disable_provider_auto_update",
    "TURNKEEPER_DISABLE_DEFAULT_PROVIDERS": "disable_default_providers",
}
_LINE = re.compile(r"(?:export\s+)?([A-Za-z_][A-Za-z0-9_.]*)\s*[=:]\s*(.*)", re.DOTALL)
_DOUBLE = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_SINGLE = re.compile(r"'([^']*)'", re.DOTALL)
_HARMLESS = re.compile(r"[A-Z0-9_]+_(?:API_KEY|TOKEN)")


def from_environment(env: Mapping[str, str]) -> tuple[Tree, list[Notice]]:
    """What variables say: `TURNKEEPER_WAITS_CONNECT_SECONDS=5` is `waits.connect_seconds`, and so for every knob.

    What cannot be read is told and otherwise ignored, since a variable may have been meant for somebody else.
    """
    tree: Tree = {}
    notices: list[Notice] = []
    names = {variable: place for variable, place in OLD_NAMES.items() if variable in env}
    for group, kind in GROUPS.items():
        for key in kind.__struct_fields__:
            variable = f"TURNKEEPER_{group}_{key}".upper()
            names |= {variable: (group, key)} if variable in env else {}
    for variable, (group, key) in names.items():
        try:
            read = msgspec.convert({key: env[variable]}, GROUPS[group], strict=False)
        except msgspec.ValidationError as error:
            notices.append(Notice(f"was ignored: {str(error).partition(' - at')[0]}", Source(f"${variable}")))
        else:
            tree.setdefault(group, {})[key] = getattr(read, key)
    options = {option: True for variable, option in SWITCHES.items() if is_true(env.get(variable, ""))}
    return {**tree, "options": options} if options else tree, notices


def is_true(text: str) -> bool:
    return text.strip().lower() in ("1", "t", "true", "yes", "on")


def parse_dotenv(text: str) -> dict[str, str]:
    """The variables of a `.env` file. A line that is not an assignment is passed over."""
    found: dict[str, str] = {}
    at = 0
    while at < len(text):
        end = text.find("\n", at) % (len(text) + 1)
        line = _LINE.match(text[at:end].strip())
        if line:
            begin = text.index(line[2], at) if line[2] else end
            quoted = _DOUBLE.match(text, begin) or _SINGLE.match(text, begin)
            found[line[1]] = _unquoted(quoted) if quoted else re.split(r"\s#", line[2])[0].strip()
            end = text.find("\n", quoted.end()) % (len(text) + 1) if quoted else end
        at = end + 1
    return found


def _unquoted(quoted: re.Match[str]) -> str:
    if quoted.re is _SINGLE:
        return quoted[1]
    return re.sub(r"\\(.)", lambda found: {"n": "\n", "r": "\r", "t": "\t"}.get(found[1], found[1]), quoted[1])


def harmless_variables(variables: Mapping[str, str]) -> dict[str, str]:
    """Keys and tokens. All else may change how programs run, or where a key is sent."""
    return {name: value for name, value in variables.items() if _HARMLESS.fullmatch(name)}


def for_providers(env: Mapping[str, str]) -> dict[str, str]:
    """With `CRUSH_OPENAI_API_KEY` standing for `OPENAI_API_KEY`: a key that is meant for us and for nobody else."""
    own = {name[len(prefix) :]: env[name] for prefix in PREFIXES for name in env if name.startswith(prefix)}
    return {**env, **{name: value for name, value in own.items() if name}}


async def working_environment(
    config: Config, env: Mapping[str, str], workdir: Path
) -> tuple[dict[str, str], dict[str, str]]:
    """What the programs of a workspace see, and why some of it is missing, by name.

    Each value of `env` may name the ones before it. One that cannot be worked out is left out: a vault that is locked
    this morning must not keep a person from everything else.
    """
    result = dict(env)
    missing: dict[str, str] = {}
    for name, template in config.env.items():
        try:
            result[name] = await expand(template, env=result, workdir=workdir)
        except ExpansionFailed as problem:
            missing[name] = problem.message
    return result, missing
