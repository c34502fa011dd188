"""Providers: who can be asked, where each one's key comes from, and why another cannot. A key is never shown."""

from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any

from textual.content import Content

from turnkeeper.client.view import View
from turnkeeper.protocol.config import ProviderEntry, Scope
from turnkeeper.protocol.wire_overview import ProviderState
from turnkeeper.tui.chat.ink import one_line
from turnkeeper.tui.dialogs.confirm import ConfirmDialog
from turnkeeper.tui.dialogs.filtered import Filtered, Row
from turnkeeper.tui.dialogs.keys import KEYS
from turnkeeper.tui.dialogs.models import READY, heading, keep_key, key_dialog, said
from turnkeeper.tui.keys import bindings
from turnkeeper.tui.live import Live

NOT_SET_UP = "not set up"


class Providers(Filtered):
    """Owns what the server said of each."""

    BINDINGS = bindings(KEYS, "providers")
    PLACEHOLDER = "Type to find a provider; enter sets its key"
    NOTHING = "There are no providers."

    def __init__(self, live: Live, session_id: str = "") -> None:
        del session_id
        super().__init__(live)
        self._states: Sequence[ProviderState] = ()
        self._revision = -1

    def on_mount(self) -> None:
        super().on_mount()
        self._read_again()

    def heard(self, before: View, now: View) -> None:
        if now.config_revision != self._revision:
            self._read_again()
        if before is now:
            self.draw(now)

    def _read_again(self) -> None:
        self._revision = self.live.view.config_revision
        self.run_worker(self._read, name="providers", group="read", exclusive=True)

    async def _read(self) -> None:
        states = await self.live.attempt(self.live.workspace.overview.providers(), "look at the providers")
        catalog = await self.live.attempt(self.live.workspace.config.providers(), "read the catalogue")
        self._states = all_states(states or (), catalog or ())
        self.draw(self.live.view)

    def draw(self, view: View) -> None:
        ready = sum(one.state == READY for one in self._states)
        self.entitle("Providers and their keys", f"{ready} ready")
        super().draw(view)

    def rows(self, view: View) -> Sequence[Row]:
        del view
        rows: list[Row] = []
        group = ""
        for one in self._states:
            head = "Known and not set up" if one.state == NOT_SET_UP else "Set up"
            if head != group:
                rows.append(heading(head, head))
                group = head
            rows.append(Row(one.id, self._face(one), f"{one.name} {one.id}"))
        return rows

    def _face(self, one: ProviderState) -> Content:
        glyphs = self.host.glyphs
        signs = {READY: (glyphs.ok, "$text-success"), NOT_SET_UP: (" ", "")}
        sign = signs.get(one.state, (glyphs.warning, "$text-warning"))
        models = f"{one.models} model{'' if one.models == 1 else 's'}"
        facts = [one.state if one.state != NOT_SET_UP else "", models, f"key from {one.key}" if one.key else ""]
        beside = "  ".join(fact for fact in facts if fact)
        why = (f"  {one_line(one.why)}", "$text-warning") if one.why else ""
        return Content.assemble(sign, " ", one_line(one.name or one.id), (f"  {beside}", "$foreground-muted"), why)

    @property
    def state(self) -> ProviderState | None:
        id = self.marked.id if self.marked else ""
        return next((one for one in self._states if one.id == id), None)

    def taken(self, row: Row) -> None:
        one = self.state
        if one is not None:
            self.app.push_screen(key_dialog(self.live, one.name or one.id, partial(self._keep, row.id)))

    def _keep(self, provider: str, key: str) -> None:
        async def keep() -> None:
            if await keep_key(self.live, provider, key):
                self.host.say(f"The key of {provider} is kept.")

        self._begin(keep)

    def action_remove(self) -> None:
        one = self.state
        if one is not None and one.state != NOT_SET_UP:
            self.app.push_screen(
                ConfirmDialog(
                    self.live,
                    f"Remove the key of {one.name or one.id}?",
                    "What the settings of this server hold of it is forgotten; a variable of the environment stays.",
                    yes="Remove",
                    done=lambda: self._begin(partial(self._remove, one.id)),
                )
            )

    async def _remove(self, provider: str) -> None:
        key = f"providers.{provider.replace('.', chr(92) + '.')}.api_key"
        if await self.live.attempt(said(self.live.workspace.config.remove(Scope.GLOBAL, key)), "remove the key"):
            self.host.say(f"The key of {provider} is removed.")

    def action_update(self) -> None:
        self._begin(self._update)

    async def _update(self) -> None:
        found = await self.live.attempt(self.live.workspace.config.update_providers(), "read the catalogue anew")
        if found is not None:
            self.host.say(f"The catalogue knows {len(found)} providers.")
            await self._read()

    def _begin(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self.host.run_worker(work, name="providers", group="providers")


def all_states(states: Sequence[ProviderState], catalog: Sequence[ProviderEntry]) -> list[ProviderState]:
    """Those that are set up, and those that could be."""
    here = {one.id for one in states}
    rest = [
        ProviderState(one.id, one.name, one.type, state=NOT_SET_UP, models=len(one.models))
        for one in catalog
        if one.id not in here
    ]
    return [*states, *sorted(rest, key=lambda one: (one.name or one.id).lower())]
