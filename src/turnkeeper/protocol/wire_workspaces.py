"""Workspaces, the server itself, and changes of configuration, on the wire."""

from typing import Any

import msgspec

from turnkeeper.protocol.config import Config, ModelEntry, OAuthToken, Scope, SelectedModel
from turnkeeper.protocol.problems import BadRequest, Problem
from turnkeeper.protocol.wire_reading import decode
from turnkeeper.protocol.wire_servers import SkillStanding


class ProblemBody(msgspec.Struct, frozen=True):
    """Every error's body. The original's clients read this one key, and there is no other."""

    message: str = ""


def problem_body(problem: Problem) -> ProblemBody:
    return ProblemBody(problem.message)


class VersionInfo(msgspec.Struct, frozen=True):
    version: str = ""
    commit: str = ""
    build_id: str = ""
    go_version: str = ""
    platform: str = ""


class Control(msgspec.Struct, frozen=True):
    command: str = ""


class Workspace(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a client asks for and what it is told: asking has no `config` and no `skills`, the answer no `client_id`.

    It carries an environment and keys, so it does not print them.
    """

    id: str = msgspec.field(default_factory=str)
    path: str = msgspec.field(default_factory=str)
    yolo: bool = False
    debug: bool = False
    data_dir: str = ""
    version: str = ""
    client_id: str = ""
    config: Config | None = None
    env: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()
    skills: tuple[SkillStanding, ...] = ()

    def __repr__(self) -> str:
        return f"Workspace(id={self.id!r}, path={self.path!r})"


class WorkspaceCreation(msgspec.Struct, frozen=True):
    """What is read of a request for a workspace; the rest of a workspace's keys are the answer's and are skipped."""

    path: str = ""
    yolo: bool = False
    debug: bool = False
    data_dir: str = ""
    version: str = ""
    client_id: str = ""
    client_name: str = ""
    client_kind: str = ""
    env: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"WorkspaceCreation(path={self.path!r}, client_id={self.client_id!r})"


def environment(env: tuple[str, ...]) -> dict[str, str]:
    """`KEY=VALUE` lines as a map; of a key that comes twice the last wins, and what is no pair is skipped."""
    return {key: value for key, sign, value in (line.partition("=") for line in env) if sign and key}


class AgentInfo(msgspec.Struct, frozen=True):
    is_busy: bool = False
    is_ready: bool = False
    model: ModelEntry = ModelEntry()
    model_cfg: SelectedModel = SelectedModel()


class AgentInit(msgspec.Struct, frozen=True):
    interactive: bool = False


class ConfigSet(msgspec.Struct, frozen=True):
    """Any other scope than 1 is the global file; `key` is a dotted path."""

    scope: int = 0
    key: str = ""
    value: Any = None

    def __repr__(self) -> str:
        return f"ConfigSet(scope={self.scope}, key={self.key!r}, value=…)"

    @property
    def file(self) -> Scope:
        return Scope.of(self.scope)


class ConfigRemove(msgspec.Struct, frozen=True):
    scope: int = 0
    key: str = ""

    @property
    def file(self) -> Scope:
        return Scope.of(self.scope)


class ConfigModel(msgspec.Struct, frozen=True):
    scope: int = 0
    model_type: str = ""
    model: SelectedModel = SelectedModel()

    @property
    def file(self) -> Scope:
        return Scope.of(self.scope)


class ConfigCompact(msgspec.Struct, frozen=True):
    scope: int = 0
    enabled: bool = False

    @property
    def file(self) -> Scope:
        return Scope.of(self.scope)


class ProviderKey(msgspec.Struct, frozen=True):
    """A credential: a key (`kind` string) or a login (`kind` oauth). It does not print itself."""

    scope: int = 0
    provider_id: str = ""
    kind: str = ""
    api_key: str | OAuthToken = ""

    def __repr__(self) -> str:
        return f"ProviderKey(scope={self.scope}, provider_id={self.provider_id!r}, kind={self.kind!r}, api_key=…)"

    @property
    def file(self) -> Scope:
        return Scope.of(self.scope)


class _Kind(msgspec.Struct, frozen=True):
    scope: int = 0
    provider_id: str = ""
    kind: str = ""


class _Key(msgspec.Struct, frozen=True):
    api_key: str = ""


class _Login(msgspec.Struct, frozen=True):
    api_key: OAuthToken = OAuthToken()


def provider_key(body: bytes) -> ProviderKey:
    """The credential in `body`, of the kind it says it is."""
    said = decode(body, _Kind)
    match said.kind:
        case "string":
            credential = decode(body, _Key).api_key
        case "oauth":
            credential = decode(body, _Login).api_key
        case unknown:
            raise BadRequest(f'unsupported api key kind "{unknown}"')
    return ProviderKey(said.scope, said.provider_id, said.kind, credential)


class RefreshOAuth(msgspec.Struct, frozen=True):
    scope: int = 0
    provider_id: str = ""

    @property
    def file(self) -> Scope:
        return Scope.of(self.scope)


class ImportedCopilot(msgspec.Struct, frozen=True):
    """No login to import is a null token."""

    token: OAuthToken | None = None
    success: bool = False


class NeedsInit(msgspec.Struct, frozen=True):
    needs_init: bool = False


class InitPrompt(msgspec.Struct, frozen=True):
    prompt: str = ""
