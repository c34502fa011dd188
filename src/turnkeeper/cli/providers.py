"""`turnkeeper providers`: whose models there are, and why one cannot be asked."""

import click

from turnkeeper.cli.exits import Exit
from turnkeeper.cli.listing import Listing
from turnkeeper.cli.output import emit, plain, say, table
from turnkeeper.cli.reach import Reach, reaching, run


@click.group("providers", cls=Listing)
def providers() -> None:
    """List providers of models, and read their catalogue anew.

    \b
    turnkeeper providers list
    turnkeeper providers update
    turnkeeper login anthropic          gives one a key
    """


@providers.command("list")
@reaching
@click.option("--all", "everything", is_flag=True, help="Also those that the catalogue knows and nobody has set up.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(reach: Reach, everything: bool, as_json: bool) -> None:
    """List who can be asked, where its key comes from, and why another cannot."""

    async def work() -> None:
        from turnkeeper.protocol.wire_overview import ProviderState

        async with reach.workspace() as workspace:
            known = await workspace.overview.providers()
            if everything:
                here = {one.id for one in known}
                known += [
                    ProviderState(
                        entry.id,
                        entry.name,
                        entry.type,
                        state="not set up",
                        models=len(entry.models),
                        key=entry.api_key,
                    )
                    for entry in await workspace.config.providers()
                    if entry.id not in here
                ]
        if as_json:
            emit(known)
        elif not known:
            say("No provider is set up: the built-in offline assistant answers. 'turnkeeper login PROVIDER' adds one;")
            say("'turnkeeper providers list --all' lists those that are known.")
        else:
            rows = [(one.id, one.state, one.key, one.models or "", plain(one.why) or one.base_url) for one in known]
            table(("PROVIDER", "STATE", "KEY FROM", "MODELS", ""), rows, right=("MODELS",))

    run(work)


@providers.command()
@reaching
@click.argument("source", required=False, default="")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def update(reach: Reach, source: str, as_json: bool) -> int:
    """Read the catalogue of models anew: from SOURCE (a URL or a file), else from TURNKEEPER_CATALOG_URL.

    'embedded' goes back to the one that came with this version.
    """

    async def work() -> int:
        async with reach.workspace() as workspace:
            known = await workspace.config.update_providers(source)
        models = sum(len(one.models) for one in known)
        if as_json:
            emit({"providers": len(known), "models": models})
        else:
            say(f"The catalogue knows {len(known)} providers with {models} models.")
        return Exit.FINISHED

    return run(work)
