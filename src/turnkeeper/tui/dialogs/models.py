"""Which model answers: found by name, with those used lately first; for one without a key, the key is asked for."""

from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from textual.content import Content

from turnkeeper.client.view import View
from turnkeeper.protocol.config import Config, ModelEntry, ProviderEntry, Scope, SelectedModel
from turnkeeper.protocol.wire_overview import ProviderState
from turnkeeper.tui.chat.ink import one_line
from turnkeeper.tui.dialogs.ask import AskDialog
from turnkeeper.tui.dialogs.filtered import Filtered, Row
from turnkeeper.tui.dialogs.keys import KEYS
from turnkeeper.tui.glyphs import Glyphs
from turnkeeper.tui.keys import bindings
from turnkeeper.tui.live import Live
from turnkeeper.tui.side.activity import amount

SLOTS = ("large", "small")
ABOUT = {"large": "the one that works", "small": "titles and summaries"}
RECENT = "Used lately"
READY = "ready"


@dataclass(frozen=True, slots=True)
class Offer:
    """A model, whose it is, and why it cannot be asked, if it cannot."""

    provider: str
    provider_name: str
    model: ModelEntry
    why: str = ""
    needs_key: bool = False

    @property
    def id(self) -> str:
        return f"{self.provider}/{self.model.id}"


def offers(
    config: Config, catalog: Iterable[ProviderEntry], states: Iterable[ProviderState]
) -> tuple[Mapping[str, Offer], Sequence[str]]:
    """Every model there is by its id, those that can be asked first; and nothing twice."""
    by_state = {state.id: state for state in states}
    known = {entry.id: entry for entry in catalog}
    found: list[Offer] = []
    for id in dict.fromkeys([*by_state, *config.providers, *known]):
        provider, entry, state = config.providers.get(id), known.get(id), by_state.get(id)
        name = (provider and provider.name) or (entry and entry.name) or (state and state.name) or id
        if state is None and provider is not None:
            why, needs_key = "disabled" if provider.disable else "", False
        elif state is None:
            why, needs_key = "needs a key", True
        else:
            why = "" if state.state == READY else state.why or state.state
            needs_key = bool(why) and not state.key and state.state != "disabled"
        models = {
            model.id: model for model in (*(entry.models if entry else ()), *(provider.models if provider else ()))
        }
        found += [Offer(id, name, model, why, needs_key) for model in models.values()]
    ordered = sorted(found, key=lambda one: bool(one.why))
    return {one.id: one for one in ordered}, [one.id for one in ordered]


class Models(Filtered):
    """Owns which of the two is chosen, and what could be."""

    BINDINGS = bindings([key for key in KEYS if key.id in ("models.slot", "models.key")])
    PLACEHOLDER = "Type to find a model"
    NOTHING = "There are no models: /providers adds a provider."

    def __init__(self, live: Live, session_id: str = "") -> None:
        del session_id
        super().__init__(live)
        self.slot = SLOTS[0]
        self._config = Config()
        self._offers: Mapping[str, Offer] = {}
        self._order: Sequence[str] = ()
        self._revision = -1

    def on_mount(self) -> None:
        super().on_mount()
        self._read_again()

    def _read_again(self) -> None:
        self._revision = self.live.view.config_revision
        self.run_worker(self._read, name="models", group="read", exclusive=True)

    async def _read(self) -> None:
        workspace = self.live.workspace
        config = await self.live.attempt(workspace.config.get(), "read the settings")
        catalog = await self.live.attempt(workspace.config.providers(), "read the catalogue")
        states = await self.live.attempt(workspace.overview.providers(), "look at the providers")
        if config is not None:
            self._config = config
            self._offers, self._order = offers(config, catalog or (), states or ())
            self.draw(self.live.view)

    def heard(self, before: View, now: View) -> None:
        if now.config_revision != self._revision:
            self._read_again()
        if before is now:
            self.draw(now)

    def draw(self, view: View) -> None:
        other = next(slot for slot in SLOTS if slot != self.slot)
        chosen = Content.styled(f" {self.slot.capitalize()} ", "$background on $primary bold")
        self.entitle(
            Content.assemble("Model  ", chosen, (f" {other.capitalize()} ", "on $panel not bold")), ABOUT[self.slot]
        )
        super().draw(view)

    def rows(self, view: View) -> Sequence[Row]:
        del view
        lately = [f"{one.provider}/{one.model}" for one in self._config.recent_models.get(self.slot, ())]
        now = self._config.models.get(self.slot)
        used = f"{now.provider}/{now.model}" if now else ""
        rows: list[Row] = []
        group = ""
        first = [id for id in lately if id in self._offers]
        for id in [*first, *(id for id in self._order if id not in first)]:
            offer = self._offers[id]
            head = RECENT if id in first else offer.provider_name
            if head != group:
                rows.append(heading(f"of {head}", head))
                group = head
            line = face(offer, self.host.glyphs, is_used=id == used)
            rows.append(Row(id, line, f"{offer.model.name} {id}"))
        return rows

    def taken(self, row: Row) -> None:
        offer = self._offers[row.id]
        if offer.needs_key:
            self._ask_key(offer, then=offer)
        elif offer.why:
            self.host.say(f"{offer.provider_name}: {offer.why}", title="This model cannot be asked", severity="warning")
        else:
            self._begin(partial(self._choose, offer))

    def action_slot(self) -> None:
        self.slot = next(slot for slot in SLOTS if slot != self.slot)
        self.draw(self.live.view)

    def action_key(self) -> None:
        if (row := self.marked) is not None:
            self._ask_key(self._offers[row.id])

    def _ask_key(self, offer: Offer, then: Offer | None = None) -> None:
        def given(key: str) -> None:
            self._begin(partial(self._keep, key, offer, then))

        self.app.push_screen(key_dialog(self.live, offer.provider_name, given))

    async def _keep(self, key: str, offer: Offer, then: Offer | None) -> None:
        if await keep_key(self.live, offer.provider, key) and then is not None:
            await self._choose(then)

    async def _choose(self, offer: Offer) -> None:
        lately = self._config.recent_models.get(self.slot, ())
        known = {f"{one.provider}/{one.model}": one for one in lately}
        wish = known.get(offer.id, SelectedModel(model=offer.model.id, provider=offer.provider))
        config = self.live.workspace.config
        done = await self.live.attempt(said(config.set_model(Scope.GLOBAL, self.slot, wish)), "choose the model")
        if done:
            self.host.say(f"{offer.model.name or offer.model.id} is the {self.slot} model from the next prompt on.")
            self.leave()

    def _begin(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self.host.run_worker(work, name="models", group="models")


async def said(asked: Coroutine[Any, Any, None]) -> bool:
    """True, for a request that answers nothing."""
    await asked
    return True


async def keep_key(live: Live, provider: str, key: str) -> bool:
    """Whether the server has taken the key."""
    asked = live.workspace.config.set_provider_key(Scope.GLOBAL, provider, key)
    return bool(await live.attempt(said(asked), "keep the key"))


def key_dialog(live: Live, name: str, given: Callable[[str], None]) -> AskDialog:
    about = "The server keeps it in its settings and shows it to nobody. $NAME takes it from its environment instead."
    return AskDialog(live, f"Key for {name}", about, given=given, is_secret=True)


def heading(id: str, title: str) -> Row:
    return Row(id, Content.styled(title, "$foreground-muted bold"))


def face(offer: Offer, glyphs: Glyphs, *, is_used: bool) -> Content:
    """The model's name, what it holds and costs, and why it cannot be asked."""
    model = offer.model
    price = f"${float(model.cost_per_1m_in):g}/${float(model.cost_per_1m_out):g}" if model.cost_per_1m_out else ""
    facts = [
        amount(model.context_window) if model.context_window else "",
        price,
        "reasons" if model.can_reason else "",
        "sees" if model.supports_attachments else "",
    ]
    beside = "".join(f"  {fact}" for fact in facts if fact)
    sign = f"{glyphs.ok} " if is_used else "  "
    name = one_line(model.name or model.id)
    if offer.why:
        return Content.assemble((f"{sign}{name}", "$foreground-muted"), (f"  {one_line(offer.why)}", "$text-warning"))
    return Content.assemble((sign, "$text-success"), name, (beside, "$foreground-muted"))
