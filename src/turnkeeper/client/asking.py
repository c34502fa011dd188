"""From answers to values, and from refusals to problems: what a server says becomes ours here and nowhere else."""

from typing import Any, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from turnkeeper.client.http import Answer
from turnkeeper.protocol import problems
from turnkeeper.protocol.problems import BadRequest, Problem
from turnkeeper.protocol.wire_reading import read
from turnkeeper.protocol.wire_workspaces import ProblemBody

T = TypeVar("T")


class Unauthorized(Problem):
    """The server asks for a token; give it with --token-file or TURNKEEPER_TOKEN."""

    status = 401


class Unsupported(Problem):
    """This server does not know what it was asked for."""

    status = 404


class Garbled(Problem):
    """The server's answer cannot be read."""

    status = 502


NAMED: dict[tuple[int, str], type[Problem]] = {
    (404, "workspace not found"): problems.WorkspaceNotFound,
    (409, "workspace closing"): problems.WorkspaceClosing,
    (409, "client has been retired"): problems.ClientRetired,
    (409, "client not attached"): problems.ClientNotAttached,
    (409, "server is hosting live workspaces"): problems.ServerHosting,
    (503, "server is shutting down"): problems.ServerClosing,
}
BY_STATUS: dict[int, type[Problem]] = {
    400: BadRequest,
    401: Unauthorized,
    404: problems.NotFound,
    409: problems.Conflict,
    413: problems.TooLarge,
    503: problems.StoreUnavailable,
}


def checked(answer: Answer, *accepted: int) -> Answer:
    """The answer, if it is a success; otherwise what it was refused with is raised."""
    if answer.status == 200 or answer.status in accepted:
        return answer
    raise refusal(answer)


def refusal(answer: Answer) -> Problem:
    """The problem in a refusal: the server's own sentence where there is one, else the status alone."""
    said = message_of(answer.body)
    if answer.status == 404 and not said:
        return Unsupported()
    if named := NAMED.get((answer.status, said)):
        return named()
    problem = BY_STATUS.get(answer.status, Problem)(said or f"the server answered with status {answer.status}")
    problem.status = answer.status
    return problem


def message_of(body: bytes) -> str:
    try:
        return read(body, ProblemBody).message
    except BadRequest:
        return ""


def value(answer: Answer, kind: type[T]) -> T:
    """What the body says. What is written as we write it is read in one go, everything else as the original reads."""
    try:
        return msgspec.json.decode(answer.body, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return leniently(answer, kind)


def leniently(answer: Answer, kind: type[T]) -> T:
    """The same for objects that servers of the original spell with capitals."""
    try:
        return read(answer.body, kind)
    except BadRequest as problem:
        raise Garbled(f"the server's answer cannot be read: {problem.message}") from problem


def segment(text: str) -> str:
    """An id as one segment of a path."""
    return quote(text, safe="$")


def query(**said: Any) -> str:
    """A query of what was said; what is None was not."""
    given = {name: str(value) for name, value in said.items() if value is not None}
    return f"?{urlencode(given)}" if given else ""
