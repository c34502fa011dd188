"""What the original promised by its own tests of its server and its backend, and the tests here that prove it.

All of them speak to a whole server, over the bridge or over a real socket. A promise that another room keeps (a claim
is a decision of `core`, a spelling is `protocol`'s) has its proofs there as well.
"""


def _in(file: str, *tests: str) -> list[str]:
    return [f"tests/server/test_{file}.py::test_{test}" for test in tests]


NAMED = _in("clients", "who_does_not_say_who_it_is_is_refused_before_anything_is_looked_up")
ATTACHED = _in("clients", "only_who_has_a_stream_open_can_look_at_a_session")
BUSY = _in("presence", "a_session_is_busy_as_long_as_its_run_is_active")
COUNTED = _in("presence", "attached_clients_follow_who_comes_chooses_switches_and_leaves")
TABLE = _in("routes", "each_route_of_the_original_answers_exactly_as_it_does")

PROMISES: dict[str, list[str]] = {
    # multiclient_test.go
    "wire.md 9.1 TestPostWorkspaces_RejectsMissingClientID": NAMED,
    "wire.md 9.1 TestPostWorkspaces_RejectsMalformedClientID": NAMED,
    "wire.md 9.1 TestDeleteWorkspace_RejectsMissingClientID": NAMED,
    "wire.md 9.1 TestDeleteWorkspace_RejectsMalformedClientID": NAMED,
    "wire.md 9.1 TestSubscribeEvents_RejectsMissingClientID": NAMED,
    "wire.md 9.1 TestSubscribeEvents_RejectsMalformedClientID": NAMED,
    "wire.md 9.1 TestPostCurrentSession_RejectsMissingClientID": NAMED,
    "wire.md 9.1 TestPostCurrentSession_RejectsMalformedClientID": NAMED,
    "wire.md 9.1 TestPostCurrentSession_RejectsBadBody": NAMED,
    "wire.md 9.1 TestPostCurrentSession_UnknownWorkspace": _in(
        "clients", "no_session_can_be_looked_at_in_a_workspace_that_is_not_there"
    ),
    "wire.md 9.1 TestPostCurrentSession_UnknownClient": ATTACHED,
    "wire.md 9.1 TestPostCurrentSession_HoldOnly": ATTACHED,
    "wire.md 9.1 TestPostCurrentSession_AttachedClientSucceeds": _in(
        "clients", "who_has_a_stream_open_looks_at_a_session_and_away_again"
    ),
    # sessions_isbusy_test.go
    "wire.md 9.1 TestSessionListIncludesIsBusy": BUSY,
    "wire.md 9.1 TestSessionListIdleSessionIsNotBusy": BUSY,
    "wire.md 9.1 TestSessionGetIncludesIsBusy": BUSY,
    "wire.md 9.1 TestIsSessionBusyNilSafe": _in("presence", "a_session_with_nobody_at_work_in_it_is_not_busy"),
    "wire.md 9.1 TestSessionListIncludesAttachedClients": COUNTED,
    "wire.md 9.1 TestSessionListExcludesHoldOnlyClient": ATTACHED,
    "wire.md 9.1 TestSessionListExcludesUnselectedAttachedClient": COUNTED,
    "wire.md 9.1 TestSessionGetIncludesAttachedClients": _in(
        "clients", "who_has_a_stream_open_looks_at_a_session_and_away_again"
    ),
    # recover_test.go
    "wire.md 9.1 TestRecoverHandler_PanicReturns500": _in(
        "recover", "a_handler_that_breaks_is_answered_without_its_insides"
    ),
    "wire.md 9.1 TestRecoverHandler_NoPanicPassthrough": _in("recover", "what_a_handler_answers_passes_unchanged"),
    "wire.md 9.1 TestRecoverHandler_PanicAfterWriteHeader": _in(
        "recover", "a_handler_that_breaks_halfway_is_cut_off_and_nothing_is_said_twice"
    ),
    "wire.md 9.1 TestRecoverHandler_AbortHandlerPropagates": _in(
        "recover", "a_handler_that_breaks_halfway_is_cut_off_and_nothing_is_said_twice"
    ),
    # The routes.
    "wire.md 2.3": [
        *TABLE,
        *_in("routes", "the_table_is_whole_and_every_route_of_it_exists"),
    ],
    "wire.md 2.1": _in(
        "routes",
        "an_unknown_workspace_is_told_by_every_route_that_looks_for_it",
        "a_body_that_cannot_be_read_is_refused_by_every_route_that_reads_one",
        "a_body_may_be_missing_only_where_nothing_is_asked_for",
    ),
}
