"""Why a run failed, as a person is told: whose affair it is, whether asking again can help, and what to do about it."""

from turnkeeper.models.model import SET_UP_TITLES, ModelTrouble, Trouble
from turnkeeper.protocol.problems import Problem
from turnkeeper.protocol.runs import Cause, Failure

FORBIDDEN, MISSING = 403, 404
SERVERS_OWN_STATUS = 500


def failure_of(trouble: ModelTrouble) -> Failure:
    """What the provider said, and after it what can be done."""
    said = trouble.message.strip().rstrip(".")
    return Failure(trouble.cause, f"{said}. {advice(trouble)}", details=trouble.title, retryable=trouble.retryable)


def advice(trouble: ModelTrouble) -> str:
    if trouble.title in SET_UP_TITLES:
        return "Choose another model, or complete the provider's configuration."
    match trouble.trouble:
        case Trouble.BUSY:
            return "The provider is overloaded or limits requests: try again later, or choose another model."
        case Trouble.CUT:
            return "The connection to the provider broke: try again."
        case Trouble.UNREACHABLE:
            return "Check the provider's address and the network, and that the server behind it runs."
        case Trouble.AUTH:
            return "Sign in to the provider again, or set another key."
        case Trouble.CONTEXT_FULL:
            return "Summarise the conversation, or begin a new session."
        case Trouble.SILENT:
            return "Try again, choose another model, or allow it more time (the settings under `waits`)."
        case Trouble.REFUSED if trouble.status == FORBIDDEN:
            return "These credentials may not use this model: choose another, or ask whoever manages the account."
        case Trouble.REFUSED if trouble.status == MISSING:
            return "Check the model's name and the provider's address."
        case Trouble.REFUSED:
            return "Asking the same again will not help: change the request, or choose another model."


def failure_by(problem: Problem) -> Failure:
    """Something of our own went wrong: the server's affair if it says so, else that of whoever asked."""
    own = problem.status >= SERVERS_OWN_STATUS
    return Failure(Cause.SERVER if own else Cause.USER, problem.message, retryable=own)
