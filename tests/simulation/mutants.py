"""Defects to put into the machine on purpose: one line each, and what a person would notice of it.

A patch replaces a text that stands in `core/session.py` exactly once. When the machine is rewritten a patch may no
longer apply; then it is rewritten too, since a check that checks nothing is worse than none.
"""

from typing import NamedTuple


class Mutant(NamedTuple):
    effect: str
    old: str
    new: str


MUTANTS = (
    Mutant(
        "prompts are stranded behind a run that has ended",
        '[*_withdraw_all(session, "the run has ended"), complete, *start]',
        '[*_withdraw_all(session, "the run has ended"), complete]',
    ),
    Mutant(
        "a cancel forgets who waits",
        "return [*_cancel_queue(session), *_stop(session, by)]",
        "return _stop(session, by)",
    ),
    Mutant(
        "a cancel only empties the line",
        "return [*_cancel_queue(session), *_stop(session, by)]",
        "return _cancel_queue(session)",
    ),
    Mutant(
        "a cancel of one waiting prompt cancels them all",
        "        return [_never_ran(waiting)]\n",
        "        return _cancel_queue(session)\n",
    ),
    Mutant(
        "a prompt submitted while a run is stopping is caught by the cancel",
        "    return [accepted, *released, *([] if session.active else _start(session, first))]",
        "    return [accepted, *released, *([] if session.active else _start(session, first)),"
        " *([e.RunComplete(told_.run_id, Outcome.CANCELLED)] if session.stopping else [])]",
    ),
    Mutant(
        "two runs are active at once",
        "*([] if session.active else _start(session, first))",
        "*_start(session, first)",
    ),
    Mutant(
        "a prompt told to a held session jumps the line",
        "first = session.queue[0] if session.queue else accepted",
        "first = accepted",
    ),
    Mutant(
        "a prompt told to a held session leaves it held",
        "released: list[Event] = [e.GateMoved(Gate.OPEN)] if session.gate is Gate.HELD else []",
        "released: list[Event] = []",
    ),
    Mutant(
        "a closing session still accepts",
        "    if session.gate is Gate.CLOSING:\n        raise",
        "    if session.gate is Gate.HELD and told_.known:\n        raise",
    ),
    Mutant(
        "a summary starts beside the prompt it should have waited for",
        "if told_.only_if_idle and session.active:",
        "if told_.only_if_idle and session.stopping:",
    ),
    Mutant(
        "another prompt under a run id that waits is taken for the same",
        "same = live.digest == told_.digest",
        "same = bool(live.digest)",
    ),
    Mutant(
        "a run id of another session is taken for one of ours",
        "(told_.known.session_id, told_.known.digest) == (session.id, told_.digest)",
        "told_.known.digest == told_.digest",
    ),
    Mutant(
        "a prompt that ended runs again when it is sent again",
        "or session.waiting(told_.run_id) or told_.known:",
        "or session.waiting(told_.run_id):",
    ),
    Mutant(
        "a prompt that waits is accepted twice",
        "if session.is_active(told_.run_id) or session.waiting(told_.run_id) or told_.known:",
        "if session.is_active(told_.run_id) or told_.known:",
    ),
    Mutant(
        "a late finish of one run ends another",
        "    if not session.is_active(told_.run_id):\n",
        "    if session.active is None:\n",
    ),
    Mutant(
        "the outcome of a run is made up",
        "        outcome=told_.outcome,\n",
        "        outcome=Outcome.CANCELLED if session.stopping else Outcome.COMPLETED,\n",
    ),
    Mutant(
        "a prompt joins a run that is being stopped",
        "or session.stopping or active.run_kind is not RunKind.PROMPT",
        "or active.run_kind is not RunKind.PROMPT",
    ),
    Mutant(
        "a prompt disappears in a summary",
        "or session.stopping or active.run_kind is not RunKind.PROMPT",
        "or session.stopping",
    ),
    Mutant(
        "a prompt with a run id of its own is folded",
        "if run.foldable and run.run_kind is RunKind.PROMPT and",
        "if run.run_kind is RunKind.PROMPT and",
    ),
    Mutant(
        "a summary that was steered disappears in a run",
        "if run.foldable and run.run_kind is RunKind.PROMPT and",
        "if run.foldable and",
    ),
    Mutant(
        "a folded prompt is never heard",
        "(e.RunFolded(run.run_id, into=run_id), *_said(session, run))",
        "(e.RunFolded(run.run_id, into=run_id),)",
    ),
    Mutant(
        "only the first of several prompts joins at a step",
        "return [event for run in joining for event in",
        "return [event for run in joining[:1] for event in",
    ),
    Mutant(
        "a run that has ended goes on writing history",
        "return list(facts) if session.is_active(run_id) else []",
        "return list(facts)",
    ),
    Mutant(
        "a run that is being stopped is not heard any more",
        "return list(facts) if session.is_active(run_id) else []",
        "return list(facts) if session.is_active(run_id) and not session.stopping else []",
    ),
    Mutant(
        "a request outlives the cancel of its run",
        'return [*_withdraw_all(session, "the run was cancelled"), e.RunStopping',
        "return [e.RunStopping",
    ),
    Mutant(
        "a request outlives its run",
        'return [*_withdraw_all(session, "the run has ended"), complete, *start]',
        "return [complete, *start]",
    ),
    Mutant(
        "a question is answered with a permission",
        "if request is None or isinstance(request, Permission) == isinstance(told_.answer, Answers):",
        "if request is None:",
    ),
    Mutant(
        "what a rule has decided waits for a person",
        "return [*asked, answered] if (asked := _ask(session, request)) else []",
        "return _ask(session, request)",
    ),
    Mutant(
        "a rule answers for a run that has ended",
        "return [*asked, answered] if (asked := _ask(session, request)) else []",
        "return [*_ask(session, request), answered]",
    ),
    Mutant(
        "a run that is being stopped asks something",
        "goes_on = session.is_active(request.run_id) and not session.stopping",
        "goes_on = session.is_active(request.run_id)",
    ),
    Mutant(
        "a run is stopped twice",
        "if session.active is None or session.stopping:",
        "if session.active is None:",
    ),
    Mutant(
        "a cancel lasts until after the run it stopped",
        "return replace(session, active=None, stopping=False)",
        "return replace(session, active=None)",
    ),
    Mutant(
        "a line that should be held goes on after a crash",
        "gate = Gate.HELD if told_.hold and session.queue else Gate.OPEN",
        "gate = Gate.OPEN",
    ),
    Mutant(
        "a line waits for ever after a crash",
        "return [*ended, *moved, *start]",
        "return [*ended, *moved]",
    ),
    Mutant(
        "a run that a crash interrupted is forgotten",
        "return [*ended, *moved, *start]",
        "return [*moved, *start]",
    ),
    Mutant(
        "a closing session starts the next run",
        "if session.queue and session.gate is Gate.OPEN else []\n    return [*_withdraw_all",
        "if session.queue else []\n    return [*_withdraw_all",
    ),
    Mutant(
        "closing loses the line it should keep",
        "cancelled = [] if keep_queue else _cancel_queue(session)",
        "cancelled = _cancel_queue(session)",
    ),
    Mutant(
        "closing leaves the active run running",
        "return [*closing, *cancelled, *_stop(session, by)]",
        "return [*closing, *cancelled]",
    ),
    Mutant(
        "a release lets a closing session go on",
        "[e.GateMoved(Gate.OPEN), *_next(session)] if session.gate is Gate.HELD else []",
        "[e.GateMoved(Gate.OPEN), *_next(session)] if session.gate is not Gate.OPEN else []",
    ),
    Mutant(
        "a prompt is moved to the wrong place",
        "others.insert(max(0, index), run_id)",
        "others.insert(index - 1, run_id)",
    ),
    Mutant(
        "an ending does not tell that the server named its run",
        "return e.RunComplete(run.run_id, Outcome.CANCELLED, minted=run.minted)",
        "return e.RunComplete(run.run_id, Outcome.CANCELLED)",
    ),
    Mutant(
        "an edit is lost",
        "return _changed(session, replace(_must_wait(session, run_id), prompt=prompt))",
        "return _changed(session, _must_wait(session, run_id))",
    ),
    Mutant(
        "the line loses its order when a prompt is accepted",
        "return replace(session, queue=(*session.queue, event))",
        "return replace(session, queue=(event, *session.queue))",
    ),
)
