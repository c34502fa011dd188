"""Which waiting prompt may join a run that goes on. Pure.

What a prompt was submitted with (a model, rules, limits) is said for its run alone, and would be lost in another's.
"""

from msgspec.structs import replace

from turnkeeper.protocol.events import Event, PromptSteered, RunAccepted
from turnkeeper.protocol.ids import ClientId
from turnkeeper.protocol.problems import TermsDiffer
from turnkeeper.protocol.runs import RunOptions


def suits(run: RunAccepted, active: RunAccepted) -> bool:
    """Whether the active run has the terms this prompt asked for; one that asked for none takes the run as it is.

    Whether somebody is there to answer is no term of the prompt's: in a run, it is the run's policy that answers.
    """
    asked = replace(run.options, interactive=active.options.interactive)
    return asked in (active.options, RunOptions(interactive=active.options.interactive))


def steer(run: RunAccepted, active: RunAccepted | None, *, by: ClientId, foldable: bool) -> list[Event]:
    """Let a waiting prompt join, or not; whoever wants what will not happen is told so."""
    if foldable and active and not suits(run, active):
        raise TermsDiffer(run.run_id)
    return [PromptSteered(run.run_id, foldable, by)] if run.foldable != foldable else []
