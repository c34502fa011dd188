"""What the original promised by its own tests of its server and its backend, and the tests here that prove it.

All of them speak to a whole server, over the bridge or over a real socket. A promise that another room keeps (a claim
is a decision of `core`, a spelling is `protocol`'s) has its proofs there as well.

Without a row, since nothing here answers to it: of section 9.2 `TestPublishConfigChanged_NilWorkspaceSafe` (nothing is
told without a workspace to tell it in) and `TestBackend_WorkspaceSkillsIsolation` (no workspace has skills).
"""


def _in(file: str, *tests: str) -> list[str]:
    return [f"tests/server/test_{file}.py::test_{test}" for test in tests]


NAMED = _in("clients", "who_does_not_say_who_it_is_is_refused_before_anything_is_looked_up")
ATTACHED = _in("clients", "only_who_has_a_stream_open_can_look_at_a_session")
OLDER = (
    "tests/protocol/test_wire_sessions.py::"
    "test_who_has_never_heard_of_being_busy_reads_our_sessions_and_we_read_those_that_do_not_say_it"
)
BUSY = _in("presence", "a_session_is_busy_as_long_as_its_run_is_active")
COUNTED = _in("presence", "attached_clients_follow_who_comes_chooses_switches_and_leaves")
TABLE = _in("routes", "each_route_of_the_original_answers_exactly_as_it_does")
LEFT = _in(
    # The original has no answer of its own for this, so that it is told as a defect. Here it has.
    "leaving",
    "a_cancel_that_was_on_its_way_when_the_workspace_closed_is_told_so",
    "whoever_waits_for_a_prompt_that_is_kept_in_line_is_told_when_the_workspace_has_closed",
    "a_request_that_outlasts_the_patience_of_a_leaving_server_is_told_that_it_leaves",
)
GONE = _in("cancel", "a_request_that_is_gone_does_not_take_its_run_along")


def _workspaces(*tests: str) -> list[str]:
    return _in("workspaces", *tests)


def _requests(*tests: str) -> list[str]:
    return _in("requests", *tests)


def _process(*tests: str) -> list[str]:
    return [f"tests/e2e/test_server.py::test_{test}" for test in tests]


NAMED_LAST = (
    "tests/store/test_contract.py::test_clients_are_known_by_the_name_they_gave_last_in_the_order_in_which_they_gave_it"
)
STALE = _in("listening", "a_socket_that_a_dead_server_left_is_replaced_and_a_live_one_never_is")
RUN = _in("crush", "a_prompt_from_the_command_line_is_answered_and_printed")
REFUSED = _in("refusals", "a_prompt_is_refused_for_the_first_thing_that_is_wrong")
FAILED = _in("cancel", "a_failed_run_does_not_strand_what_waits_behind_it")
CHANGED = _in("config_changes", "a_change_is_told_to_everybody_in_its_workspace_and_to_nobody_else")
UNCHANGED = _in("config_changes", "what_changes_nothing_in_the_configuration_is_not_told")
SPELLED = _workspaces("a_directory_is_one_workspace_however_it_is_spelled_and_shows_the_first_spelling")
NOT_THERE = _workspaces("a_directory_that_is_not_there_yet_is_a_workspace_all_the_same")
FIRST = _workspaces("who_came_first_decides_how_the_workspace_was_asked_for")
TWICE = _workspaces("a_client_that_asks_twice_holds_once")
LAST = _workspaces("the_last_stream_of_the_last_client_closes_the_workspace_and_then_the_server_leaves")
GOODBYE = _workspaces("a_goodbye_while_a_stream_is_open_counts_when_it_ends_and_without_any_grace")
RETIRES = _workspaces("who_retires_lets_go_of_everything_and_closes_only_what_nobody_else_holds")
CONTROL = _workspaces("a_server_with_a_workspace_refuses_to_go_and_stays_as_it_was")
ARRIVING = _workspaces("a_server_at_which_somebody_is_just_arriving_refuses_to_go")
RACE = _workspaces("whoever_attaches_as_a_workspace_closes_is_in_it_or_told_that_it_is_gone")
FIFTY = _workspaces("fifty_clients_coming_and_going_at_once_leave_only_who_stays")
BYTES = _in("events", "a_whole_run_has_exactly_these_bytes")
COALESCED = _in("events", "a_streamed_message_is_told_whole_at_most_once_a_tick_and_ends_as_it_is")
MATRIX = _in(
    "cancel_matrix",
    "a_cancel_stops_a_run_wherever_it_stands_and_keeps_what_it_had_said",
    "a_request_waits_for_nobody_once_its_run_is_cancelled",
    "a_client_that_goes_leaves_its_run_to_those_who_stay",
    "clearing_the_line_leaves_what_runs_alone",
    "a_server_that_stops_ends_the_run_and_says_so_before_its_streams_end",
    "a_run_goes_on_when_everybody_has_left_and_then_the_workspace_closes",
    "where_runs_may_not_go_on_alone_the_last_to_leave_ends_them",
)

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
    "wire.md 9.1 TestProtoSessionIsBusyBackwardCompat": [OLDER],
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
    # agent_cancel_test.go
    "wire.md 9.1 TestPostAgent_ReturnsOKOnContextCanceled": _in(
        "cancel", "a_cancel_by_another_client_ends_the_run_for_both_and_is_no_error"
    ),
    "wire.md 9.1 TestPostAgent_DetachesRequestContext": GONE,
    # e2e_agent_test.go
    "wire.md 9.1 TestE2E_CancelByOtherClientDoesNotErrorPrompter": _in(
        "cancel", "a_cancel_by_another_client_ends_the_run_for_both_and_is_no_error"
    ),
    "wire.md 9.1 TestE2E_CancelImmediatelyAfter202IsNotLost": _in("cancel", "a_cancel_right_after_the_202_is_not_lost"),
    "wire.md 9.1 TestE2E_IdleCancelDoesNotPoisonNextPrompt": _in(
        "cancel", "a_cancel_with_nothing_to_cancel_does_not_poison_the_next_prompt"
    ),
    "wire.md 9.1 TestE2E_CancelBetweenActiveSetAndAssistantCreate": _in(
        "cancel", "a_cancel_between_the_start_and_the_first_message_still_leaves_a_whole_conversation"
    ),
    "wire.md 9.1 TestE2E_PromptRequestContextDoesNotOwnRun": GONE,
    "wire.md 9.1 TestE2E_AgentRunSurvivesAcrossWorkspaceClaims": _in(
        "cancel", "a_run_outlives_its_prompters_claim_while_somebody_stays"
    ),
    "wire.md 9.1 TestE2E_CancelOfActiveRunAlsoCancelsAcceptedFollowUp": _in(
        "cancel", "one_cancel_covers_both_of_two_prompts_and_none_that_comes_after_it"
    ),
    # events_test.go: what is encoded, is proved in `protocol`; here is what arrives.
    "wire.md 9.1 TestRunCompleteToProto_RoundTrip": BYTES,
    "wire.md 3.1": _in("events", "the_head_of_a_stream_comes_before_any_event_and_is_the_originals"),
    "wire.md 3.2": _in("events", "the_head_of_a_stream_comes_before_any_event_and_is_the_originals"),
    "wire.md 3.3": [
        *BYTES,
        *_in(
            "events",
            "a_heartbeat_is_a_blank_line_that_no_reader_notices",
            "a_stream_ends_with_its_terminating_chunk_when_its_workspace_closes",
        ),
    ],
    "wire.md 4.4": BYTES,
    "wire.md T-46": _in("events", "a_stream_ends_with_its_terminating_chunk_when_its_workspace_closes"),
    "wire.md T-47": _in("events", "the_head_of_a_stream_comes_before_any_event_and_is_the_originals"),
    "wire.md T-48": BYTES,
    "wire.md 9.7 Message service: text deltas within the debounce window coalesce": COALESCED,
    "wire.md 9.7 Message service: finish and tool calls flush synchronously": COALESCED,
    "a run's ending never overtakes its last message, and comes before the next run asks": _in(
        "events", "an_ending_comes_after_the_last_message_of_its_run_and_before_the_next_run_asks"
    ),
    "who comes late is asked what still waits": _in(
        "events", "who_comes_late_is_asked_what_still_waits_for_an_answer_once"
    ),
    "what the original has not is in the document": _in(
        "openapi",
        "every_operation_every_answer_and_everything_that_may_be_asked_is_described",
        "what_is_ours_is_there_with_the_shape_of_its_answers",
    ),
    "whatever is asked is answered in time and as the document says": _in(
        "fuzz", "whatever_is_asked_is_answered_as_documented"
    ),
    "an event is encoded once for all who watch": _in("events", "what_is_told_is_encoded_once_for_everybody"),
    "who does not keep up holds nobody up and misses nothing": _in(
        "events",
        "who_does_not_take_what_all_are_told_reads_on_by_itself_and_falls_into_step_again",
        "what_goes_wrong_in_telling_all_at_once_costs_nobody_a_word",
    ),
    "our own clients are told fragments and finished parts": _in(
        "events",
        "a_client_that_asks_for_it_is_told_every_turn_of_a_run_in_fragments_and_finished_parts",
        "the_fragments_of_a_tool_call_and_of_its_output_reach_those_who_ask_for_detail",
    ),
    "a stream can be resumed from any position, also after a restart": _in(
        "resume",
        "from_whatever_position_one_resumes_nothing_is_missed_and_nothing_is_told_twice",
        "the_header_of_a_browser_and_the_query_mean_the_same_and_the_header_wins",
        "what_is_no_position_is_refused",
        "a_stream_goes_on_after_the_server_was_started_again",
        "who_cannot_resume_is_given_everything_as_of_one_position_and_goes_on_from_there",
        "a_reader_that_is_cut_at_random_places_sees_everything_once_and_in_order",
        "a_reader_that_is_cut_ten_thousand_times_sees_everything_once_and_in_order",
    ),
    "a snapshot is the workspace as of one position": _in("resume", "a_snapshot_is_the_workspace_as_of_one_position"),
    # backend_test.go: the decisions are proved in `core`; here is what clients see of them.
    "wire.md 9.2 TestResolveWorkspaceKey_AbsoluteAndSymlink": SPELLED,
    "wire.md 9.2 TestResolveWorkspaceKey_NonExistentFallback": NOT_THERE,
    "wire.md 9.2 TestValidateClientID": NAMED,
    "wire.md 9.2 TestRegisterClient_Idempotent": TWICE,
    "wire.md 9.2 TestAttachClient_ConsumesHold": _workspaces("the_grace_of_a_create_does_not_end_who_has_come"),
    "wire.md 9.2 TestAttachClient_WithoutPriorCreate": _workspaces(
        "a_client_may_watch_without_having_asked_for_the_workspace"
    ),
    "wire.md 9.2 TestAttachClient_DuplicateStreams": LAST,
    "wire.md 9.2 TestDetachClient_LastStreamTearsDown": LAST,
    "wire.md 9.2 TestHoldExpiry_TearsDown": _workspaces("a_hold_that_nobody_takes_up_runs_out"),
    "wire.md 9.2 TestReleaseHold_NoStreams": _workspaces("a_goodbye_ends_a_hold_at_once_and_again_is_the_same_as_once"),
    "wire.md 9.2 TestReleaseHold_WithActiveStream": GOODBYE,
    "wire.md 9.2 TestReleaseHoldThenAttach": _workspaces("a_client_may_watch_without_having_asked_for_the_workspace"),
    "wire.md 9.2 TestRefcountWithSecondClient": LAST,
    "wire.md 9.2 TestAttachClient_InvalidID": NAMED,
    "wire.md 9.2 TestDeleteWorkspace_RejectsBadClientID": NAMED,
    "wire.md 9.2 TestHoldExpiry_RaceWithAttach": RACE,
    "wire.md 9.2 TestConcurrentAttachDetach": FIFTY,
    "wire.md 9.2 TestPathDedupe_FullCreate": SPELLED,
    "wire.md 9.2 TestPathDedupe_DifferentPaths_DifferentWorkspaces": SPELLED,
    "wire.md 9.2 TestPathDedupe_FirstWinsKeepsOriginalEnv": FIRST,
    "wire.md 9.2 TestPathDedupe_Symlink": SPELLED,
    "wire.md 9.2 TestPathDedupe_NonExistentPath": NOT_THERE,
    "wire.md 9.2 TestCreateWorkspace_IdempotentSameClient": TWICE,
    "wire.md 9.2 TestPathDedupe_ParallelCreates": _workspaces("creates_at_the_same_moment_meet_in_one_workspace"),
    "wire.md 9.2 TestCreateWorkspace_RejectsBadClientID": NAMED,
    "wire.md 9.2 TestFirstWinsMismatch_LogsOnFlagDifferences": FIRST,
    "wire.md 9.2 TestFirstWinsMismatch_NoLogWhenIdentical": FIRST,
    "wire.md 9.2 TestChannelOptInBoundary_DuplicateCreate": _workspaces(
        "other_channels_are_refused_and_the_client_holds_nothing"
    ),
    "wire.md 9.2 TestRaceTwoClientsAttachOneDetaches": LAST,
    "wire.md 9.2 TestExplicitDeleteThenAttach": _workspaces("a_create_takes_a_goodbye_back"),
    "wire.md 9.2 TestAttachClient_RacesWithTeardown": RACE,
    "wire.md 9.2 TestSetCurrentSession_BasicAttachAndSwitch": COUNTED,
    "wire.md 9.2 TestSetCurrentSession_DetachClearsEntry": COUNTED,
    "wire.md 9.2 TestSetCurrentSession_RejectsHoldOnly": ATTACHED,
    "wire.md 9.2 TestSetCurrentSession_UnknownClient": ATTACHED,
    "wire.md 9.2 TestSetCurrentSession_RejectsBadInputs": [
        *NAMED,
        *_in("clients", "no_session_can_be_looked_at_in_a_workspace_that_is_not_there"),
    ],
    "wire.md 9.2 TestSetCurrentSession_RaceWithDetach": FIFTY,
    "wire.md 9.2 TestAttachedClients_BasicLifecycle": [*COUNTED, *ATTACHED],
    "wire.md 9.2 TestAttachedClients_UnknownWorkspace": _in(
        "routes", "an_unknown_workspace_is_told_by_every_route_that_looks_for_it"
    ),
    "wire.md 9.2 TestTeardown_DefersShutdownWhileCreatePending": ARRIVING,
    "wire.md 9.2 TestTeardown_ShutsDownWhenIdleAndNoPending": LAST,
    "wire.md 9.2 TestCreateWorkspace_PendingBalancedOnSuccess": ARRIVING,
    "wire.md 9.2 TestCreateWorkspace_PendingBalancedAndReapsOnFailure": _workspaces(
        "a_create_that_fails_leaves_nothing_and_lets_an_idle_server_go"
    ),
    "wire.md 9.2 TestServer_ShutsDownAfterLingerWhenIdle": LAST,
    "wire.md 9.2 TestDetachStream_GraceSurvivesReattach": _workspaces(
        "a_stream_that_is_lost_and_found_keeps_its_workspace_and_what_it_looked_at"
    ),
    "wire.md 9.2 TestDetachStream_GraceExpiryTearsDown": _workspaces(
        "a_stream_that_is_lost_and_not_found_lets_its_workspace_go"
    ),
    "wire.md 9.2 TestDetachStream_ExplicitReleaseSkipsGrace": GOODBYE,
    "wire.md 9.2 TestRegisterClient_RearmsGraceAndCancelsRelease": _workspaces("a_create_takes_a_goodbye_back"),
    "wire.md 9.2 TestRetireClient_ReleasesEveryClaim": RETIRES,
    "wire.md 9.2 TestRetireClient_RefusesLaterCreates": RETIRES,
    "wire.md 9.2 TestRetireClient_DuringPendingCreate": _workspaces(
        "who_retires_while_its_workspace_is_being_opened_gets_none",
        "a_workspace_that_is_discarded_is_closed_before_its_directory_is_opened_again",
    ),
    "wire.md 9.2 TestShutdownIfIdle_RefusesWhileWorkspaceLive": CONTROL,
    "wire.md 9.2 TestShutdownIfIdle_RefusesWhileCreatePending": ARRIVING,
    "wire.md 9.2 TestShutdownIfIdle_GrantedAndFinal": CONTROL,
    "wire.md 9.2 TestIdleShutdown_RefusesLaterCreates": LAST,
    "wire.md 2.4.2": [*CONTROL, *_workspaces("an_unknown_command_is_refused")],
    "closing a workspace touches nothing of another": _workspaces("closing_one_workspace_touches_nothing_of_another"),
    "a directory opened while it closes is the same conversation": _workspaces(
        "a_directory_opened_again_while_it_closes_is_the_same_conversation"
    ),
    "a server that stops takes nobody in": _workspaces("a_server_that_was_stopped_takes_nobody_in_any_more"),
    # agent_test.go, agent_runcomplete_test.go, accepted_run_integration_test.go
    "wire.md 9.2 TestSendMessage_WorkspaceNotFound": _in(
        "routes", "an_unknown_workspace_is_told_by_every_route_that_looks_for_it"
    ),
    "wire.md 9.2 TestSendMessage_AgentNotInitialized": REFUSED,
    "wire.md 9.2 TestSendMessage_EmptyPrompt": REFUSED,
    "wire.md 9.2 TestSendMessage_SessionMissing": REFUSED,
    "wire.md 9.2 TestSendMessage_WorkspaceClosing": _in(
        "refusals", "a_prompt_for_a_workspace_that_closes_is_refused_and_none_is_lost"
    ),
    "wire.md 9.2 TestSendMessage_SuccessIncrementsRunWG": _in(
        "cancel_matrix", "where_runs_may_not_go_on_alone_the_last_to_leave_ends_them"
    ),
    "wire.md 9.2 TestRunAgent_PreRunErrorPublishesTerminalRunComplete": FAILED,
    "wire.md 9.2 TestRunAgent_NoFallbackWhenCoordinatorPublished": FAILED,
    "wire.md 9.2 TestRunAgent_CancellationPublishesNoErrorTerminal": _in(
        "cancel", "a_cancel_by_another_client_ends_the_run_for_both_and_is_no_error"
    ),
    "wire.md 9.2 TestSendMessage_AcceptedCancelRace_RealMachinery": _in(
        "cancel", "a_cancel_right_after_the_202_is_not_lost"
    ),
    # config_test.go
    "wire.md 9.2 TestSetConfigField_PublishesConfigChanged": CHANGED,
    "wire.md 9.2 TestRemoveConfigField_PublishesConfigChanged": CHANGED,
    "wire.md 9.2 TestUpdatePreferredModel_PublishesConfigChanged": CHANGED,
    "wire.md 9.2 TestSetCompactMode_PublishesConfigChanged": CHANGED,
    "wire.md 9.2 TestSetProviderAPIKey_PublishesConfigChanged": CHANGED,
    "wire.md 9.2 TestMarkProjectInitialized_PublishesConfigChanged": CHANGED,
    "wire.md 9.2 TestImportCopilot_PublishesConfigChanged": UNCHANGED,
    "wire.md 9.2 TestRefreshOAuthToken_NoEventOnError": UNCHANGED,
    "wire.md 9.2 TestDisableDockerMCP_PublishesConfigChanged": CHANGED,
    "wire.md 9.2 TestRunShellCommand_SkipsPersistenceForMissingSession": _in(
        "refusals", "a_session_that_is_not_there_is_no_error_where_there_is_merely_nothing"
    ),
    "wire.md 9.4 TestServer_ConcurrentSessionsSameDirShareOneWorkspace": RETIRES,
    "wire.md 9.4 TestServer_ConcurrentSessionsDifferentDirsAreIndependent": RETIRES,
    "wire.md 9.4 TestServer_DetachGraceSurvivesStreamBlip": _workspaces(
        "a_stream_that_is_lost_and_found_keeps_its_workspace_and_what_it_looked_at"
    ),
    "wire.md 9.4 TestClientWorkspace_ConfigChangedSignalArrives": CHANGED,
    "wire.md 9.5 TestConfigProviderKeyRequestUnknownKind": _in(
        "config_changes", "a_credential_that_is_none_is_refused_without_being_shown"
    ),
    "wire.md 9.5 TestConfigProviderKeyRequestMalformedPayload": _in(
        "config_changes", "a_credential_that_is_none_is_refused_without_being_shown"
    ),
    "wire.md 2.2": [
        *REFUSED,
        *_in(
            "refusals",
            "a_session_that_is_not_there_is_told_where_one_is_needed",
            "a_session_that_is_not_there_is_no_error_where_there_is_merely_nothing",
            "a_question_that_cannot_be_answered_is_told_why",
            "a_prompt_sent_twice_is_one_run_and_another_under_its_name_is_refused",
            "a_full_line_is_refused_with_a_status_of_its_own",
            "a_prompt_that_cannot_be_written_down_is_not_accepted_and_can_be_sent_again",
        ),
    ],
    "wire.md T-57": _in("refusals", "an_id_may_hold_whatever_a_path_can_spell"),
    # Permissions and questions.
    "wire.md 9.7 Permission service: concurrent grants resolve exactly once": _requests(
        "of_many_answers_at_once_exactly_one_settles_it"
    ),
    "wire.md 9.7 Permission service: grant after deny is a no-op": _requests("after_a_no_a_yes_comes_too_late"),
    "wire.md 9.7 Permission service: a losing allow_session records nothing": _requests(
        "of_many_answers_at_once_exactly_one_settles_it"
    ),
    "wire.md 9.7 Permission service: unknown id is a harmless false": _requests("an_answer_to_nothing_settles_nothing"),
    "wire.md 9.7 Permission service: skip mode grants without asking": _requests(
        "where_nobody_is_to_be_asked_nobody_is_and_nothing_is_told"
    ),
    "wire.md 5.3": _requests(
        "a_permission_is_asked_of_all_answered_by_one_and_told_to_the_others",
        "an_answer_that_is_none_is_refused",
        "what_was_allowed_for_the_session_is_not_asked_again_and_can_be_taken_back",
        "a_no_with_a_reason_is_something_the_model_can_work_with",
        "a_permission_nobody_answers_is_withdrawn_in_time_and_the_run_goes_on",
    ),
    "wire.md 5.4": _requests(
        "a_question_is_answered_once_and_everybody_hears_that_it_was", "questions_can_be_declined_without_a_word"
    ),
    "wire.md T-14": TABLE,
    "wire.md T-15": TABLE,
    "wire.md T-16": TABLE,
    "wire.md T-53": [*TABLE, *RETIRES],
    "wire.md T-59": FIRST,
    "wire.md T-61": _in("events", "the_head_of_a_stream_comes_before_any_event_and_is_the_originals"),
    "wire.md T-62": RETIRES,
    "wire.md T-66": STALE,
    "wire.md T-22": _requests("setting_up_the_agent_disturbs_nothing_that_runs"),
    "wire.md 2.4.9": _requests("who_says_that_nobody_is_there_is_not_asked_unless_others_can_be"),
    # e2e_test.go
    "wire.md 9.1 TestE2E_PermissionFlowCrossClient": _requests(
        "a_permission_is_asked_of_all_answered_by_one_and_told_to_the_others"
    ),
    "wire.md 9.1 TestE2E_TwoClientsReceiveSameMessage": [
        "tests/server/test_first_prompt.py::test_two_clients_of_one_directory_see_the_same_run_end"
    ],
    "wire.md 9.1 TestE2E_KillingClientASSEDoesNotBreakClientB": LAST,
    "wire.md 9.1 TestE2E_ShutdownCallbackFiresWhenLastClientLeaves": LAST,
    # socket_test.go, and the process itself
    "wire.md 9.1 TestIsStaleSocketErr": STALE,
    "wire.md 9.1 TestListen_RemovesStaleSocket": [
        *STALE,
        *_process("what_a_killed_server_left_is_put_right_by_the_next_and_streams_go_on"),
    ],
    "wire.md 9.1 TestListen_LiveSocketNotRemoved": [
        *STALE,
        *_process("a_socket_that_is_served_is_never_taken_away"),
    ],
    "wire.md 9.1 TestDefaultHost_FallbackTemp": [
        "tests/settings/test_dirs.py::test_the_socket_lies_in_the_runtime_directory_or_among_temporary_files"
    ],
    "wire.md 9.1 TestDefaultHost_XDGRuntimeDir": _process(
        "without_a_host_a_server_listens_where_its_users_clients_look"
    ),
    "wire.md 1.9": _process(
        "a_server_answers_on_a_socket_that_is_its_owners_alone_and_goes_quietly",
        "a_server_told_to_stop_ends_what_runs_tells_it_and_ends_its_streams_properly",
        "a_server_that_goes_takes_along_whatever_its_runs_have_started",
        "a_server_nobody_needs_any_more_leaves_by_itself",
        "a_server_that_is_asked_to_go_answers_before_it_goes",
        "a_new_server_may_take_the_place_of_one_that_is_still_leaving",
        "a_server_that_cannot_listen_says_why",
        "one_server_can_listen_in_two_places_and_both_see_the_same",
    ),
    "nothing that was said is lost to kill -9": _process(
        "what_a_killed_server_left_is_put_right_by_the_next_and_streams_go_on"
    ),
    # The original's own client.
    "wire.md 1.8": _in("crush", "a_server_of_another_version_stands_down_only_if_nobody_needs_it"),
    "wire.md 3.12": _in("crush", "a_client_whose_workspace_is_gone_comes_back_into_a_new_one"),
    "wire.md 4.1, 4.2, 5.1 as a strict reader sees them": _in(
        "crush", "the_reader_notices_what_the_originals_decoders_would", "an_evening_at_the_terminal"
    ),
    "wire.md 7.0": RUN,
    "wire.md 7.1": _in("crush", "an_evening_at_the_terminal"),
    "wire.md 7.2": [
        *RUN,
        *_in(
            "crush",
            "a_run_that_fails_is_told_and_ends_with_an_error",
            "a_run_that_somebody_cancels_ends_without_an_error",
            "nobody_waits_for_a_permission_that_nobody_could_give",
        ),
    ],
    "wire.md T-17": _in("crush", "an_evening_at_the_terminal"),
    "wire.md T-44": RUN,
    "wire.md T-45": RUN,
    "wire.md T-50": RUN,
    "wire.md T-51": _in("crush", "a_client_whose_workspace_is_gone_comes_back_into_a_new_one"),
    "wire.md T-52": _in("crush", "a_server_of_another_version_stands_down_only_if_nobody_needs_it"),
    "wire.md 9.1 TestHandleError_ContextCanceledFallsThroughTo500": LEFT,
    # Our own routes.
    "a run can be looked at, waited for and cancelled": _in(
        "runs",
        "a_run_is_shown_from_accepted_to_its_ending",
        "whoever_waits_for_a_run_is_answered_at_its_end_or_when_the_time_is_up",
        "the_name_of_a_run_nobody_named_comes_with_the_202",
        "a_run_can_be_cancelled_alone_and_the_line_moves_on",
    ),
    "a cancel gives a receipt once all has stopped": _in(
        "runs",
        "a_cancel_gives_a_receipt_of_what_it_stopped_once_that_has_stopped",
        "two_who_cancel_at_once_are_both_answered_when_it_has_stopped",
        "a_cancel_that_takes_long_says_what_it_is_stopping",
    ),
    "a line can be changed while it waits": _in(
        "runs",
        "a_waiting_prompt_can_be_rewritten_and_is_carried_out_as_it_was_last",
        "a_waiting_prompt_can_be_moved_and_the_line_is_carried_out_in_its_new_order",
        "a_waiting_prompt_can_be_steered_into_the_run_that_goes_on",
        "who_submitted_a_prompt_is_told_with_it",
        "a_line_that_waits_after_a_crash_goes_on_when_somebody_says_so_and_is_kept_until_then",
    ),
    "people who share a workspace see who is there and who typed what": [
        *_in(
            "presence",
            "who_shares_a_workspace_is_told_who_comes_looks_elsewhere_and_goes",
            "who_resumes_is_told_who_is_there_again_and_an_old_client_is_told_nothing_of_it",
            "a_name_is_one_short_line_without_anything_that_moves_a_cursor",
            "who_did_something_can_still_be_named_when_it_is_gone_and_the_server_was_started_again",
        ),
        "tests/client/test_presence.py::test_two_clients_of_a_server_see_each_other_come_look_and_go",
        NAMED_LAST,
    ],
    # The cancellation matrix.
    "agent-core 2.1": _in("cancel", "a_cancel_with_nothing_to_cancel_does_not_poison_the_next_prompt"),
    "agent-core 2.2": [*_in("cancel", "a_cancel_right_after_the_202_is_not_lost"), *MATRIX],
    "agent-core 2.3": MATRIX,
    "agent-core 2.4": MATRIX,
    "agent-core 2.5": MATRIX,
    "agent-core 2.6": MATRIX,
    "agent-core 2.7": MATRIX,
    "agent-core 2.8": MATRIX,
    "agent-core 2.9": _in(
        "cancel",
        "what_waits_is_dropped_by_a_cancel_without_a_trace_in_the_conversation",
        "a_failed_run_does_not_strand_what_waits_behind_it",
    )
    + _in("cancel_matrix", "clearing_the_line_leaves_what_runs_alone"),
    "agent-core 2.10": _in("cancel", "a_summary_is_a_run_that_others_can_cancel_and_that_outlives_its_request"),
    "agent-core 2.14": _in("cancel_matrix", "where_runs_may_not_go_on_alone_the_last_to_leave_ends_them"),
    "wire.md T-36": _in(
        "shell_lines", "a_person_who_leaves_takes_the_command_they_typed_along_and_what_it_said_is_kept"
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
