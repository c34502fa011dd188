"""What the original promised of accepting, queueing, cancelling and completing, and the tests that prove it here.

The original carries a prompt from its acceptance to its start on a thread of its own, and keeps marks and counters for
the time between. Here there is no such time; what the marks were for is promised and proved without them. What needs
a model, a disk or a socket to be seen is proved again by the rooms that have them.
"""


def _in(file: str, *tests: str) -> list[str]:
    return [f"tests/core/test_session_{file}.py::test_{test}" for test in tests]


EXPLORED = "tests/simulation/test_exploration.py::test_three_prompts_keep_every_promise_in_every_order_of_all_commands"
SIMULATED = "tests/simulation/test_simulation.py::test_every_promise_is_kept_on_thousands_of_days"
IDLE_CANCEL = _in("cancel", "a_cancel_of_an_idle_session_does_nothing_and_is_not_remembered")
BOTH_CANCELLED = _in(
    "cancel",
    "two_prompts_accepted_before_a_cancel_both_end_cancelled",
    "a_cancel_ends_everybody_waiting_and_stops_the_active_run",
)
SURVIVES = _in("cancel", "a_prompt_submitted_after_a_cancel_survives_it")
FOLDED = _in(
    "fold",
    "every_foldable_prompt_joins_in_the_order_they_came",
    "prompts_with_a_run_id_of_their_own_stay_in_line_in_their_order",
)
NOT_WHILE_STOPPING = _in("fold", "nothing_joins_a_run_that_is_being_stopped")
RIGHT_AWAY = _in("cancel", "a_cancel_right_after_the_acceptance_is_not_lost")

PROMISES: dict[str, list[str]] = {
    "agent-core 7.1 TestAcceptedRun_CloseIsIdempotent": _in("ends", "a_run_ends_once_however_often_it_finishes"),
    "agent-core 7.1 TestAcceptedRun_MultipleReservations": [
        *_in("submit", "prompts_of_many_clients_at_once_start_one_run_and_wait_in_the_order_they_came"),
        EXPLORED,
    ],
    "agent-core 7.1 TestAcceptedRun_NilSafe": _in("ends", "only_the_active_run_can_finish"),
    "agent-core 7.1 TestCancel_IdleDoesNotRecordPendingCancel": IDLE_CANCEL,
    "agent-core 7.1 TestCancel_AcceptedRecordsPendingCancel": RIGHT_AWAY,
    "agent-core 7.1 TestCancel_SecondCancelWhilePendingIsNoOp": _in(
        "cancel", "a_second_cancel_of_a_stopping_run_decides_nothing"
    ),
    "agent-core 7.1 TestRun_CancelOnEntryPersistsCanceledTurn": [
        *RIGHT_AWAY,
        *_in("saying", "a_run_that_is_being_stopped_may_still_say_how_far_it_came"),
    ],
    "agent-core 7.1 TestPersistCanceledTurn_WritesBothWhenUserMissing": _in(
        "submit", "a_prompt_told_to_an_idle_session_is_accepted_and_started_in_one_decision"
    ),
    "agent-core 7.1 TestPersistCanceledTurn_WritesAssistantOnlyWhenUserCreated": _in(
        "saying", "a_run_that_is_being_stopped_may_still_say_how_far_it_came"
    ),
    "agent-core 7.1 TestClearPendingCancel": _in("cancel", "a_cancel_is_over_when_the_run_it_stopped_has_ended"),
    "agent-core 7.1 TestCancel_ActiveAndAcceptedFiresBothBranches": BOTH_CANCELLED,
    "agent-core 7.1 TestRun_BusyWithPendingCancelTakesCancelOnEntry": _in(
        "submit", "a_prompt_told_to_a_stopping_session_is_accepted_and_comes_after_the_cancel"
    ),
    "agent-core 7.1 TestRun_PrepareStepDrainSkipsQueuedOnPendingCancel": NOT_WHILE_STOPPING,
    "agent-core 7.1 TestRun_NormalCompletionClearsStalePendingCancel": _in(
        "cancel", "a_cancel_is_over_when_the_run_it_stopped_has_ended"
    ),
    "agent-core 7.1 TestRun_CancelOnEntryPublishesRunComplete": RIGHT_AWAY,
    "agent-core 7.1 TestCancel_TwoAcceptedBothObserveCancellation": BOTH_CANCELLED,
    "agent-core 7.1 TestRun_IdleCancelDoesNotPoisonNextPrompt": IDLE_CANCEL,
    "agent-core 7.1 TestCancel_AcceptedAfterCancelIsNotPoisoned": SURVIVES,
    "agent-core 7.1 TestRun_ConcurrentInProcessDispatchStartsOneRun": [
        *_in("submit", "prompts_of_many_clients_at_once_start_one_run_and_wait_in_the_order_they_came"),
        EXPLORED,
    ],
    "agent-core 7.1 TestRun_QueuedRunIDPromptRunsRecursivelyAndPublishesRunComplete": [
        *_in("submit", "a_prompt_told_to_a_busy_session_is_accepted_and_waits"),
        *_in("ends", "whatever_the_outcome_the_next_in_line_starts_when_the_active_run_ends"),
    ],
    "agent-core 7.1 TestSessionAgentRun_QueueStripsOnComplete": _in(
        "submit", "everything_a_submit_says_is_kept_on_the_accepted_run"
    ),
    "agent-core 7.1 TestDrainQueueForStep_FiltersUnderDispatchLock": [*NOT_WHILE_STOPPING, *SURVIVES],
    "agent-core 7.1 TestDrainQueueForStep_NoMarkFoldsAllNonRunID": FOLDED,
    "agent-core 7.1 TestDrainQueueForStep_KeepsRunIDPromptsQueued": FOLDED,
    "agent-core 7.1 TestDrainQueueForStep_ReportsCanceledRunIDDrops": BOTH_CANCELLED,
    "agent-core 7.1 TestCancel_QueuedRunIDPromptPublishesCancelledRunComplete": [
        *BOTH_CANCELLED,
        *_in("ends", "an_ending_tells_whether_the_server_named_the_run_because_its_client_did_not"),
    ],
    "agent-core 7.1 TestDrainQueueForStep_DroppedRunIDPublishesCancelledRunComplete": BOTH_CANCELLED,
    "agent-core 7.2 TestSendMessage_WorkspaceClosing": _in("submit", "a_closing_session_accepts_nothing"),
    "agent-core 7.2 TestRunAgent_NoFallbackWhenCoordinatorPublished": _in(
        "ends", "a_run_ends_once_however_often_it_finishes"
    ),
    "agent-core 7.2 TestSendMessage_AcceptedCancelRace_RealMachinery": [*RIGHT_AWAY, EXPLORED, SIMULATED],
    # What the original does not do well, and we promise.
    "one ending per accepted run": [EXPLORED, SIMULATED, *_in("ends", "a_run_ends_once_however_often_it_finishes")],
    "nobody waits in an idle session": [EXPLORED, SIMULATED],
    "first come, first served": [EXPLORED, SIMULATED],
    "a prompt accepted after a cancel is never touched by it": [EXPLORED, SIMULATED, *SURVIVES],
    "nothing is said by a run that has ended": [
        EXPLORED,
        SIMULATED,
        *_in("saying", "a_run_that_has_ended_says_nothing_more"),
    ],
    "a request is answered at most once and never outlives its run": [
        EXPLORED,
        SIMULATED,
        *_in(
            "requests",
            "the_first_of_two_answers_decides_and_the_second_decides_nothing",
            "a_cancel_withdraws_every_request_for_everybody",
            "the_end_of_a_run_withdraws_its_requests_before_the_next_run_starts",
        ),
    ],
    "a log replayed is the live session": [
        EXPLORED,
        SIMULATED,
        *_in("ends", "a_session_replayed_from_its_log_is_the_session_that_wrote_it"),
    ],
    "a line has a bound and a clear refusal": _in("submit", "a_session_keeps_a_bounded_number_of_prompts_waiting"),
    "a run id means one prompt": _in(
        "submit",
        "the_same_prompt_under_the_id_of_a_run_that_ended_does_not_run_again",
        "another_prompt_under_the_id_of_a_run_that_ended_is_refused",
        "a_run_id_that_belongs_to_another_session_is_refused_here_even_with_the_same_prompt",
    ),
    "a waiting prompt can be edited, moved and removed": _in(
        "line",
        "an_edited_prompt_keeps_its_place_and_runs_as_it_was_edited",
        "a_waiting_prompt_can_be_moved_anywhere_in_the_line",
        "a_waiting_prompt_can_be_removed_and_has_ended_then",
    ),
    "a summary is a run, cancellable, and strands nobody": [
        *_in("cancel", "a_summary_is_cancelled_like_any_run_and_never_strands_the_queue"),
        *_in("summary", "a_summary_that_a_crash_interrupted_ends_and_strands_nobody"),
    ],
    "a defect put into the machine is caught": [
        "tests/simulation/test_mutation.py::test_every_defect_is_caught_by_the_tables_and_by_the_searches"
    ],
}
