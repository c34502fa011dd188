"""A workspace's configuration as the wire shows it: models, providers, servers, options.

This is the merged, effective configuration, and exactly its JSON: keys in the original's order, what is empty left out.
Two things are always there, because the original client reads them without asking: `providers` (an object) and
`options` with `options.tui`. None means *not said*, so that whoever knows the default can tell it from *no*.

It carries keys and tokens in clear, as the wire does. What is printed of it does not: `repr` names what a thing is
and never what it holds.
"""

from enum import IntEnum, StrEnum
from typing import Any

import msgspec

Number = int | float
"""A JSON number; whole ones stay whole, because the original refuses a fraction where it expects an integer."""

RECENT_MODELS_MAX = 5


class ModelType(StrEnum):
    LARGE = "large"
    SMALL = "small"


class Scope(IntEnum):
    """Which file a setting is written to."""

    GLOBAL = 0
    WORKSPACE = 1

    @classmethod
    def of(cls, number: int) -> "Scope":
        """Any number that is not the workspace's means the global file, as in the original."""
        return cls.WORKSPACE if number == cls.WORKSPACE else cls.GLOBAL


# A field with a default is left out while it has that default; one with a `default_factory` is always written.
class _Words(msgspec.Struct, frozen=True, omit_defaults=True):
    pass


class _Secret(_Words, frozen=True):
    """Holds a key or a token, so it does not print itself."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(…)"


class SelectedModel(_Words, frozen=True):
    """Which model speaks, and how it is asked."""

    model: str = msgspec.field(default_factory=str)
    provider: str = msgspec.field(default_factory=str)
    reasoning_effort: str = ""
    think: bool = False
    max_tokens: int = 0
    temperature: Number | None = None
    top_p: Number | None = None
    top_k: int | None = None
    frequency_penalty: Number | None = None
    presence_penalty: Number | None = None
    provider_options: dict[str, Any] = {}


class ModelOptions(_Words, frozen=True):
    temperature: Number | None = None
    top_p: Number | None = None
    top_k: int | None = None
    frequency_penalty: Number | None = None
    presence_penalty: Number | None = None
    provider_options: dict[str, Any] = {}


class ModelEntry(_Words, frozen=True):
    """What the catalogue knows of a model. Prices are US dollars per million tokens."""

    id: str = msgspec.field(default_factory=str)
    name: str = msgspec.field(default_factory=str)
    cost_per_1m_in: Number = msgspec.field(default_factory=int)
    cost_per_1m_out: Number = msgspec.field(default_factory=int)
    cost_per_1m_in_cached: Number = msgspec.field(default_factory=int)
    cost_per_1m_out_cached: Number = msgspec.field(default_factory=int)
    context_window: int = msgspec.field(default_factory=int)
    default_max_tokens: int = msgspec.field(default_factory=int)
    can_reason: bool = msgspec.field(default_factory=bool)
    reasoning_levels: tuple[str, ...] = ()
    default_reasoning_effort: str = ""
    supports_attachments: bool = msgspec.field(default_factory=bool)
    options: ModelOptions | None = None


class OAuthClient(_Secret, frozen=True):
    client_id: str = ""
    client_secret: str = ""
    auth_url: str = ""
    token_url: str = ""
    auth_style: int = 0


class OAuthToken(_Secret, frozen=True):
    """A login. `expires_at` is Unix seconds; `expires_in` is what the issuer said, in seconds."""

    access_token: str = msgspec.field(default_factory=str)
    refresh_token: str = ""
    expires_in: int = msgspec.field(default_factory=int)
    expires_at: int = msgspec.field(default_factory=int)
    client: OAuthClient | None = None


class ProviderConfig(_Secret, frozen=True):
    """A provider as the user set it up, completed from the catalogue."""

    id: str = ""
    name: str = ""
    base_url: str = ""
    type: str = ""
    api_key: str = ""
    oauth: OAuthToken | None = None
    disable: bool = False
    system_prompt_prefix: str = ""
    extra_headers: dict[str, str] = {}
    extra_body: dict[str, Any] = {}
    provider_options: dict[str, Any] = {}
    aws_auth_refresh: str = ""
    flat_rate: bool = False
    discover_models: bool | None = None
    models: tuple[ModelEntry, ...] = ()


class ProviderEntry(_Words, frozen=True):
    """A provider as the catalogue describes it. Its `api_key` is a template such as `$OPENAI_API_KEY`."""

    name: str = msgspec.field(default_factory=str)
    id: str = msgspec.field(default_factory=str)
    api_key: str = ""
    api_endpoint: str = ""
    type: str = ""
    default_large_model_id: str = ""
    default_small_model_id: str = ""
    models: tuple[ModelEntry, ...] = ()
    default_headers: dict[str, str] = {}


class MCPConfig(_Secret, frozen=True):
    """An MCP server to run (`stdio`) or to reach (`sse`, `http`). `timeout` is in seconds."""

    command: str = ""
    env: dict[str, str] = {}
    args: tuple[str, ...] = ()
    type: str = msgspec.field(default_factory=lambda: "stdio")
    url: str = ""
    disabled: bool = False
    disabled_tools: tuple[str, ...] = ()
    enabled_tools: tuple[str, ...] = ()
    timeout: int = 0
    headers: dict[str, str] = {}
    oauth: bool = False
    oauth_client_id: str = ""
    oauth_client_secret: str = ""
    oauth_callback_port: int = 0
    oauth_token: OAuthToken | None = None


class LSPConfig(_Secret, frozen=True):
    """A language server. `timeout` is in seconds."""

    disabled: bool = False
    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    filetypes: tuple[str, ...] = ()
    root_markers: tuple[str, ...] = ()
    init_options: dict[str, Any] = {}
    options: dict[str, Any] = {}
    timeout: int = 0


class Completions(_Words, frozen=True):
    max_depth: int | None = None
    max_items: int | None = None


class TUIOptions(_Words, frozen=True):
    compact_mode: bool = False
    diff_mode: str = ""
    completions: Completions | None = None
    transparent: bool | None = None
    scrollbar: str = ""
    # From here on they are ours.
    theme: str = ""
    """A theme's name, or `auto` to follow the terminal."""
    themes: dict[str, dict[str, str]] = {}
    """Themes of one's own: by name their colours, and `dark` as `true` or `false`."""
    glyphs: str = ""
    """`unicode` or `ascii`; else as the terminal's language says."""
    plain: bool = False
    """Words, no boxes and nothing that moves, for screen readers."""
    vim: bool = False
    """Edit prompts with the keys of vi."""
    timestamps: bool = False
    """Say beside each message when it was said."""
    keys: dict[str, str] = {}
    """By the id of a row of the key map the keys it has instead."""


class Attribution(_Words, frozen=True):
    trailer_style: str = ""
    co_authored_by: bool | None = None
    generated_with: bool | None = None


class Options(_Words, frozen=True):
    context_paths: tuple[str, ...] = ()
    """Files of the project that every conversation begins with."""
    global_context_paths: tuple[str, ...] = ()
    skills_paths: tuple[str, ...] = ()
    """Further directories in which skills are looked for."""
    tui: TUIOptions = msgspec.field(default_factory=TUIOptions)
    debug: bool = False
    """Write more to the log."""
    debug_lsp: bool = False
    disable_auto_summarize: bool = False
    """Whether a conversation that fills the model's window is left as it is, instead of summed up."""
    data_directory: str = ""
    """Where the data of a workspace is kept."""
    disabled_tools: tuple[str, ...] = ()
    """Tools that nobody may use, by name."""
    disable_provider_auto_update: bool = False
    disable_default_providers: bool = False
    attribution: Attribution | None = None
    disable_metrics: bool = False
    initialize_as: str = ""
    auto_lsp: bool | None = None
    progress: bool | None = None
    notifications: str = ""
    disabled_skills: tuple[str, ...] = ()
    """Skills that nobody is told of, by name."""


class PermissionOptions(_Words, frozen=True):
    allowed_tools: tuple[str, ...] = ()
    """`tool` or `tool:action`: never asked about."""


class ListLimits(_Words, frozen=True):
    max_depth: int | None = None
    max_items: int | None = None


class SearchLimits(_Words, frozen=True):
    timeout: int | None = None
    """In nanoseconds."""


class ToolOptions(_Words, frozen=True):
    ls: ListLimits | None = None
    grep: SearchLimits | None = None
    glob: SearchLimits | None = None


class HookConfig(_Words, frozen=True):
    """A command to run at an event. `timeout` is in seconds."""

    name: str = ""
    matcher: str = ""
    command: str = msgspec.field(default_factory=str)
    timeout: int = 0
    blocking: bool = False
    """Whether its failure denies what it was asked about. Only Turnkeeper knows this key."""


class Config(_Words, frozen=True):
    schema: str = msgspec.field(name="$schema", default="")
    models: dict[str, SelectedModel] = {}
    recent_models: dict[str, tuple[SelectedModel, ...]] = {}
    providers: dict[str, ProviderConfig] = msgspec.field(default_factory=lambda: dict[str, ProviderConfig]())
    mcp: dict[str, MCPConfig] = {}
    lsp: dict[str, LSPConfig] = {}
    options: Options = msgspec.field(default_factory=Options)
    permissions: PermissionOptions | None = None
    tools: ToolOptions | None = None
    hooks: dict[str, tuple[HookConfig, ...]] = {}
    env: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"Config(providers={sorted(self.providers)})"

    @property
    def is_configured(self) -> bool:
        """Whether some provider can be asked at all."""
        return any(not provider.disable for provider in self.providers.values())
