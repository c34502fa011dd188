"""What is needed to ask one provider for one model: where it is, who we are there, and how it wants to be asked.

Keys arrive here already expanded. Nothing of a connection prints itself, so that no log or error can hold a key.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from turnkeeper.models.model import ModelInfo, Question
from turnkeeper.protocol.config import SelectedModel

CONNECT_SECONDS = 15.0
WRITE_SECONDS = 60.0
READ_SECONDS_MAX = 600.0
"""Longest silence of a socket. The engine's watchdog over meaningful events is the shorter one."""

CLOSE_SECONDS = 2.0
SECRET_CHARACTERS_MIN = 6
"""Shorter keys are words such as `none`; blotting them out would blot out ordinary text."""


@dataclass(frozen=True, slots=True, repr=False)
class Connection:
    """A provider that can be asked."""

    provider: str
    type: str = "openai-compat"
    base_url: str = ""
    api_key: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    extra_body: Mapping[str, Any] = field(default_factory=dict[str, Any])
    system_prompt_prefix: str = ""
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    """Where regions, projects and API versions are looked up, by the names their makers gave them."""

    def __repr__(self) -> str:
        return f"Connection({self.provider!r}, {self.type!r})"

    @property
    def bearer(self) -> str:
        """The token of a key written as `Bearer …`, which goes into `Authorization` whatever the provider."""
        return self.api_key.removeprefix("Bearer ") if self.api_key.startswith("Bearer ") else ""

    def scrub(self, text: str) -> str:
        """The text without our key in it, since some providers quote it back in their refusals."""
        secrets = [self.api_key, self.bearer, *self.headers.values()]
        for secret in secrets:
            if len(secret) >= SECRET_CHARACTERS_MIN:
                text = text.replace(secret, "***")
        return text


@dataclass(frozen=True, slots=True)
class Voice:
    """One model of one provider, and how it is to be asked."""

    connection: Connection
    info: ModelInfo
    choice: SelectedModel = field(default_factory=SelectedModel)

    def effort(self) -> str:
        """How hard to think: what the user chose if the model knows it, else the model's own default."""
        levels = self.info.reasoning_levels
        if not self.info.can_reason:
            return ""
        wishes = (self.choice.reasoning_effort, self.info.default_reasoning_effort, *levels[:1])
        return next((wish for wish in wishes if wish and wish in levels), "")

    def max_tokens(self, question: Question) -> int:
        return question.max_tokens or self.choice.max_tokens or self.info.default_max_tokens

    def system(self, question: Question) -> list[str]:
        return [text for text in (self.connection.system_prompt_prefix, *question.system) if text.strip()]

    def session_headers(self, question: Question) -> dict[str, str]:
        """Keeps a conversation on one machine of the provider's, so that its cache is warm."""
        if not question.session_id:
            return dict(self.connection.headers)
        name = hashlib.sha256(question.session_id.encode()).hexdigest()[:32]
        return {"x-session-id": name, "x-session-affinity": name, **self.connection.headers}


def merged(*layers: Mapping[str, Any]) -> dict[str, Any]:
    """Deeply merged options; later layers win."""
    result: dict[str, Any] = {}
    for layer in layers:
        for key, value in layer.items():
            old = result.get(key)
            if isinstance(old, Mapping) and isinstance(value, Mapping):
                result[key] = merged(cast("Mapping[str, Any]", old), cast("Mapping[str, Any]", value))
            else:
                result[key] = value
    return result
