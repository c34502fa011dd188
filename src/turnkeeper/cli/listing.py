"""Groups of commands that list what they are about when no command of theirs is named."""

import click

HELP = ("-h", "--help")


class Listing(click.Group):
    """`turnkeeper sessions --json` is `turnkeeper sessions list --json`."""

    usual = "list"

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        named_nothing = not args or (args[0].startswith("-") and args[0] not in HELP)
        if named_nothing and not ctx.resilient_parsing:  # a shell that completes wants to know what may follow
            args = [self.usual, *args]
        return super().parse_args(ctx, args)
