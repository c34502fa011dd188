"""The port to what a workspace has beside its runs: configuration, models to choose from, a shell for people."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from turnkeeper.protocol.config import Config, ModelEntry, OAuthToken, ProviderEntry, Scope, SelectedModel
from turnkeeper.protocol.ids import SessionId
from turnkeeper.protocol.transcripts import Transcript
from turnkeeper.protocol.wire_changes import JobRow
from turnkeeper.protocol.wire_config import ConfigState, ConfigTrust
from turnkeeper.protocol.wire_overview import FileNames, JobOutput, ProjectNotes, ProviderState


class Desk(Protocol):
    @property
    def has_agent(self) -> bool:
        """Whether there is a model to speak with."""
        ...

    def config(self, *, masked: bool) -> Config: ...

    def config_state(self) -> ConfigState:
        """Where the configuration stands."""
        ...

    async def refresh(self) -> bool:
        """Read the files again if any of them changed; whether anything is different now."""
        ...

    async def trust(self, said: ConfigTrust) -> None:
        """Use what was set aside in a file, or set it aside again."""
        ...

    def providers(self) -> Sequence[ProviderEntry]: ...

    async def update_providers(self, source: str) -> Sequence[ProviderEntry]:
        """Read the catalogue anew from a URL or a file; without one, from where the environment says, or as packed."""
        ...

    def provider_states(self) -> Sequence[ProviderState]:
        """Every provider that is configured or known by its key, and whether it can be asked."""
        ...

    async def check_database(self) -> Sequence[str]:
        """What is wrong with the workspace's database; nothing, if it is whole."""
        ...

    async def back_up_database(self, path: str) -> str:
        """Copy it as of one moment; without a path, among the workspace's data. Answers where the copy is."""
        ...

    async def compact_database(self) -> int:
        """Give empty pages back to the disk; answers how many."""
        ...

    async def crush_sessions(self, path: str) -> tuple[str, Sequence[SessionId]]:
        """A database of the original's (this project's, without a path): where it is, and the conversations in it."""
        ...

    async def crush_session(self, path: str, session_id: SessionId) -> Transcript: ...

    def large_model(self) -> tuple[ModelEntry, SelectedModel]: ...

    def default_small_model(self, provider_id: str) -> SelectedModel: ...

    async def set_field(self, scope: Scope, key: str, value: Any) -> None: ...

    async def remove_field(self, scope: Scope, key: str) -> None: ...

    async def set_model(self, scope: Scope, slot: str, model: SelectedModel) -> None: ...

    async def set_provider_key(self, scope: Scope, provider_id: str, key: str | OAuthToken) -> None: ...

    async def refresh_oauth(self, scope: Scope, provider_id: str) -> None: ...

    def needs_init(self) -> bool: ...

    async def mark_initialized(self) -> None: ...

    def init_prompt(self) -> str: ...

    async def project(self) -> ProjectNotes:
        """What a model is told of the project before anybody says anything."""
        ...

    def jobs(self, session_id: SessionId | None) -> Sequence[JobRow]:
        """Commands in the background of a session; of all of them, when none is named."""
        ...

    async def job_output(self, session_id: SessionId, job_id: str, *, after: int) -> JobOutput:
        """What a command said after a position; as much of all of it as is shown, when that is negative."""
        ...

    async def kill_job(self, session_id: SessionId, job_id: str) -> JobRow:
        """Stop a job and all it started; answers when nothing of it is left."""
        ...

    async def file_names(self) -> FileNames:
        """The files a person may want to name, as far as the settings let it look."""
        ...

    async def end_jobs(self, session_id: SessionId) -> None:
        """Stop and forget what a session left running: it is gone."""
        ...

    async def shell(self, command: str, heard: Callable[[str], None]) -> tuple[str, int]:
        """Run a command as a person would, in the workspace, and hand on what it says; cancelled with its caller."""
        ...
