"""`turnkeeper permissions`: what was allowed for longer than once, and what was decided."""

from datetime import datetime
from typing import TYPE_CHECKING

import click

from turnkeeper.cli.exits import Exit
from turnkeeper.cli.listing import Listing
from turnkeeper.cli.naming import short
from turnkeeper.cli.output import emit, say, table
from turnkeeper.cli.reach import Reach, reaching, run
from turnkeeper.protocol.problems import BadRequest, NotFound

if TYPE_CHECKING:
    from turnkeeper.protocol.requests import Grant

JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group("permissions", cls=Listing)
def permissions() -> None:
    """Look at what was allowed for longer than once, and take it back.

    \b
    turnkeeper permissions list
    turnkeeper permissions revoke 3f2a
    turnkeeper permissions audit

    Rules that always hold are in the configuration: 'turnkeeper config get rules'.
    """


@permissions.command("list")
@reaching
@JSON
def list_(reach: Reach, as_json: bool) -> None:
    """List what was allowed for longer than once and still holds."""

    async def work() -> None:
        async with reach.workspace() as workspace:
            known = await workspace.permissions.grants()
        if as_json:
            emit(known)
        elif not known:
            say("Nothing is allowed for longer than once.")
        else:
            rows = [
                (
                    short(one.id),
                    one.rule.tool or "*",
                    one.rule.action or "*",
                    one.scope,
                    _given(one),
                    one.rule.subject or "*",
                )
                for one in known
            ]
            table(("ID", "TOOL", "ACTION", "HOLDS FOR", "SINCE", "WHAT"), rows)

    run(work)


def _given(grant: "Grant") -> str:
    when = datetime.fromtimestamp(grant.granted_at).astimezone()
    return when.strftime("%Y-%m-%d %H:%M") if grant.granted_at else ""


@permissions.command()
@reaching
@click.argument("grants", metavar="[ID]…", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="All of them.")
@JSON
def revoke(reach: Reach, grants: tuple[str, ...], everything: bool, as_json: bool) -> None:
    """Take allowances back, by id or the beginning of one. From then on somebody is asked again."""
    if bool(grants) == everything:
        raise click.UsageError("say which, or --all")

    async def work() -> None:
        async with reach.workspace() as workspace:
            known = await workspace.permissions.grants()
            meant = known if everything else [_meant(known, one) for one in grants]
            for one in meant:
                await workspace.permissions.revoke(one.id)
        if as_json:
            emit(meant)
        else:
            say(f"Took back {len(meant)} allowance{'' if len(meant) == 1 else 's'}.")

    run(work)


def _meant(known: "list[Grant]", said: str) -> "Grant":
    found = [one for one in known if one.id.startswith(said)]
    if len(found) == 1:
        return found[0]
    raise BadRequest(f"{said!r} may be several") if found else NotFound(f"there is no allowance {said!r}")


@permissions.command()
@reaching
@click.option("--limit", "-n", default=50, show_default=True, help="At most so many.")
@JSON
def audit(reach: Reach, limit: int, as_json: bool) -> int:
    """List what was asked and decided, newest first."""

    async def work() -> int:
        async with reach.workspace() as workspace:
            known = (await workspace.permissions.audit())[:limit]
        if as_json:
            emit(known)
        elif not known:
            say("Nothing has been asked yet.")
        else:
            rows = [
                (
                    datetime.fromtimestamp(one.at / 1000).astimezone().strftime("%Y-%m-%d %H:%M:%S"),
                    short(one.session_id),
                    one.decision + (f" ({one.scope})" if one.scope not in ("", "once") else ""),
                    one.tool,
                    one.subject or one.reason,
                )
                for one in known
            ]
            table(("WHEN", "SESSION", "DECISION", "TOOL", "WHAT"), rows)
        return Exit.FINISHED

    return run(work)
