"""`turnkeeper models`: who can be asked here, what it costs, and who is."""

import sys
from typing import TYPE_CHECKING, NamedTuple

import click

from turnkeeper.cli.exits import Exit
from turnkeeper.cli.listing import Listing
from turnkeeper.cli.output import emit, is_terminal, say, table
from turnkeeper.cli.reach import Reach, reaching, run
from turnkeeper.protocol.problems import BadRequest

if TYPE_CHECKING:
    from turnkeeper.client.workspace import WorkspaceClient
    from turnkeeper.protocol.config import ModelEntry

SLOTS = ("large", "small")
ADD_ONE = "'turnkeeper models list --all WORD' shows whom one could ask, 'turnkeeper login PROVIDER' adds them"


class Offered(NamedTuple):
    """A model, whose it is, and whether it can be asked here."""

    provider: str
    provider_name: str
    model: "ModelEntry"
    is_ready: bool
    slots: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.provider}/{self.model.id}"

    def shown(self) -> dict[str, object]:
        import msgspec

        said = {"provider": self.provider, "ready": self.is_ready, "used_as": self.slots}
        return said | msgspec.to_builtins(self.model)

    def fits(self, words: tuple[str, ...]) -> bool:
        text = f"{self.name} {self.provider_name} {self.model.name}".lower()
        return all(word.lower() in text for word in words)


@click.group("models", cls=Listing)
def models() -> None:
    """List the models that can be asked, and choose among them.

    \b
    turnkeeper models list
    turnkeeper models list --all claude
    turnkeeper models choose anthropic/claude-sonnet-5-5
    turnkeeper models choose --small openai/gpt-5-mini

    For one run alone, 'turnkeeper run --model' chooses another.
    """


@models.command("list")
@reaching
@click.argument("words", metavar="[WORD]…", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Also those of providers that have no key here yet.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(reach: Reach, words: tuple[str, ...], everything: bool, as_json: bool) -> int:
    """List models whose name, or whose provider's, holds every WORD. In a pipe: one provider/model a line."""

    async def work() -> int:
        async with reach.workspace() as workspace:
            known = await offered(workspace, everything=everything)
        found = [one for one in known if one.fits(words)]
        if as_json:
            emit([one.shown() for one in found])
        elif not found:
            say("No model fits." + ("" if everything else " --all also looks among providers that have no key yet."))
        elif is_terminal(sys.stdout):
            headings = ("MODEL", "USED AS", "WINDOW", "IN $/M", "OUT $/M", "CAN")
            table(headings, map(_row, found), right=("WINDOW", "IN $/M", "OUT $/M"))
        else:
            click.echo("\n".join(one.name for one in found))
        return Exit.FINISHED if found else Exit.FAILED

    return run(work)


def _row(one: Offered) -> tuple[object, ...]:
    model = one.model
    can = [*(["think"] if model.can_reason else []), *(["see"] if model.supports_attachments else [])]
    window = f"{model.context_window // 1000}k" if model.context_window else ""
    name = one.name if one.is_ready else f"{one.name} (no key)"
    prices = (f"{float(price):g}" if price else "" for price in (model.cost_per_1m_in, model.cost_per_1m_out))
    return name, ", ".join(one.slots), window, *prices, ", ".join(can)


async def offered(workspace: "WorkspaceClient", *, everything: bool = False) -> list[Offered]:
    """Those that can be asked, by provider; with `everything`, then those that the catalogue knows beside them."""
    config = await workspace.config.get()
    used = {(chosen.provider, chosen.model): slot for slot, chosen in reversed(config.models.items())}
    slots = {key: tuple(s for s, one in config.models.items() if (one.provider, one.model) == key) for key in used}
    ready = [
        Offered(id, provider.name or id, model, True, slots.get((id, model.id), ()))
        for id, provider in config.providers.items()
        if not provider.disable
        for model in provider.models
    ]
    if not everything:
        return ready
    there = {one.name for one in ready}
    catalogue = await workspace.config.providers()
    others = [Offered(entry.id, entry.name, model, False) for entry in catalogue for model in entry.models]
    return ready + [one for one in others if one.name not in there]


@models.command()
@reaching
@click.argument("model", metavar="PROVIDER/MODEL")
@click.option("--small", is_flag=True, help="The small one, for titles and other little things.")
@click.option("--everywhere", is_flag=True, help="In all workspaces, rather than in this one.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def choose(reach: Reach, model: str, small: bool, everywhere: bool, as_json: bool) -> None:
    """Choose the model of this workspace, for everybody in it. Case does not matter, nor does a unique provider."""

    async def work() -> None:
        from turnkeeper.protocol.config import Scope, SelectedModel

        slot = SLOTS[small]
        async with reach.workspace() as workspace:
            known = await offered(workspace)
            meant = [one for one in known if model.lower() in (one.name.lower(), one.model.id.lower())]
            if len(meant) != 1:
                near = ", ".join(one.name for one in (meant or [one for one in known if one.fits((model,))])[:5])
                what = "several models" if meant else "no model here"
                raise BadRequest(f"{model!r} is {what}: {near or ADD_ONE}")
            chosen = SelectedModel(model=meant[0].model.id, provider=meant[0].provider)
            scope = Scope.GLOBAL if everywhere else Scope.WORKSPACE
            await workspace.config.set_model(scope, slot, chosen)
        if as_json:
            emit({"slot": slot, "model": meant[0].name, "everywhere": everywhere})
        else:
            say(f"{meant[0].name} is now the {slot} model {'everywhere' if everywhere else 'of this workspace'}.")

    run(work)
