"""What the original promises of its client and its `run`, and what users miss in headless runs, with our tests of it.

A promise is named by its place in the description: section 9 of `wire.md` is the original's own tests; the pains are
numbered as they are listed.

Without a row, since nothing here answers to it: the skills of section 9.4 (our servers tell that there are none), and
of section 9.6 `--channels`, the aliases `auth` and `signout` and `--force` of signing in and out: a key replaces the
one before it, and no browser is opened.
"""


def _in(file: str, *tests: str) -> list[str]:
    return [f"tests/{file}.py::test_{test}" for test in tests]


REFUSALS = _in("client/test_original", "a_refusal_is_the_problem_it_is_with_the_servers_own_words")
KEYS = _in("client/test_original", "a_credential_is_sent_with_its_kind_provider_and_scope")
NO_KEYS = _in("client/test_original", "what_is_no_credential_is_refused_before_anything_is_sent")
TAKEN = _in("client/test_original", "a_prompt_is_taken_by_old_servers_and_by_new_ones")
MCP = _in("client/test_original", "prompts_of_mcp_servers_come_with_their_arguments")
GOODBYE = _in("client/test_original", "goodbye_is_said_once_and_in_the_plainer_word_where_the_other_is_not_known")
REPLACED = _in("client/test_original", "a_server_that_is_leaving_is_asked_again_until_its_successor_answers")
FOREIGN = _in("client/test_hearing", "other_sessions_other_runs_and_sub_agents_are_not_heard")
TROUBLE = _in("client/test_hearing", "trouble_of_this_run_ends_it_at_a_server_that_tells_no_better_ending")
UNNAMED = _in("client/test_hearing", "without_a_run_id_the_words_and_the_ending_of_the_session_are_taken")
GONE = _in("client/test_feed", "a_workspace_that_is_gone_is_opened_anew_and_what_was_looked_at_is_told_again")
DROPPED = _in(
    "client/test_feed",
    "a_stream_that_drops_is_opened_again_in_the_same_workspace_and_says_that_something_was_missed",
)
STAYS = _in("client/test_local", "one_that_is_needed_stays_and_is_used_as_it_is")
TOO_OLD = _in(
    "client/test_local",
    "one_too_old_for_the_polite_word_is_asked_plainly_and_only_if_nobody_has_it_open",
)
READY = _in(
    "client/test_recovering",
    "whether_somebody_can_be_asked_is_told_from_a_workspace_that_is_gone_and_a_server_that_is",
)
LEFT_EARLY = _in("client/test_client", "a_client_that_leaves_while_it_still_waits_for_its_workspace_leaves_none_behind")

PROMISES: dict[str, list[str]] = {
    "wire.md 9.3 TestSetProviderAPIKeyStringSendsKind": KEYS,
    "wire.md 9.3 TestSetProviderAPIKeyOAuthSendsKind": KEYS,
    "wire.md 9.3 TestSetProviderAPIKeyUnsupportedTypeFailsLocally": NO_KEYS,
    "wire.md 9.3 TestSetProviderAPIKeyNilOAuthFailsLocally": NO_KEYS,
    "wire.md 9.3 TestListMCPPrompts": MCP,
    "wire.md 9.3 TestListMCPPromptsNonOKStatus": MCP,
    "wire.md 9.3 TestListMCPPromptsMalformedBody": MCP,
    "wire.md 9.3 TestCheckStatus_TypesActionableStatuses": REFUSALS,
    "wire.md 9.3 TestSubscribeEventsContextCancelClosesEvents": _in(
        "client/test_feed",
        "with_nothing_listening_the_feed_goes_on_trying_and_leaves_as_soon_as_it_is_told",
    ),
    "wire.md 9.3 TestSendEventAfterContextCancelIsIdempotent": _in(
        "client/test_recovering", "a_feed_that_was_left_tells_nothing_more_however_often_it_is_asked"
    ),
    "wire.md 9.3 TestSendMessageAcceptsStatusAccepted": TAKEN,
    "wire.md 9.3 TestSendMessageAcceptsStatusOK": TAKEN,
    "wire.md 9.3 TestSendMessageDecodesErrorBody": REFUSALS,
    "wire.md 9.3 TestSendMessageFallsBackOnMalformedErrorBody": REFUSALS,
    "wire.md 9.3 TestSendMessageFallsBackOnEmptyErrorBody": REFUSALS,
    "wire.md 9.4 TestClientWorkspace_PermissionGrantMapping": _in(
        "client/test_original",
        "a_permission_is_answered_with_the_request_echoed_and_nothing_the_original_would_refuse",
    ),
    "wire.md 9.4 TestClientWorkspaceListMCPPrompts": MCP,
    "wire.md 9.4 TestClientWorkspaceListMCPPromptsServerError": MCP,
    "wire.md 9.4 TestClientWorkspace_ReconnectsOnStreamDrop": DROPPED,
    "wire.md 9.4 TestClientWorkspace_SubscriptionStopsWhenServerDown": _in(
        "client/test_feed",
        "with_nothing_listening_the_feed_goes_on_trying_and_leaves_as_soon_as_it_is_told",
    ),
    "wire.md 9.4 TestClientWorkspace_RecoversFromWorkspaceGone": GONE,
    "wire.md 9.4 TestClientWorkspace_RecoversAfterServerSideTeardown": GONE,
    "wire.md 9.4 TestClientWorkspace_ResyncsAfterPlainStreamDrop": DROPPED,
    "wire.md 9.4 TestClientWorkspace_EscalatesUnrecoverableConnection": _in(
        "client/test_feed",
        "one_that_cannot_be_opened_anew_is_said_to_be_lost_and_tried_again_until_it_can",
    ),
    "wire.md 9.4 TestClientWorkspace_ShutdownFallsBackForLegacyServer": GOODBYE,
    "wire.md 9.4 TestClientWorkspace_ShutdownRetiresAfterLostCreateResponse": LEFT_EARLY,
    "wire.md 9.4 TestClientWorkspace_ShutdownWaitsForInFlightRecovery": [
        *LEFT_EARLY,
        *_in(
            "client/test_recovering",
            "a_client_that_leaves_while_its_workspace_is_opened_anew_says_goodbye_after_that",
        ),
    ],
    "wire.md 9.4 TestClientWorkspace_RecoveryCreateIsBounded": _in(
        "client/test_recovering", "an_opening_that_is_never_answered_is_given_up_in_time"
    ),
    "wire.md 9.4 TestClientWorkspace_AgentReadyErr": READY,
    "wire.md 9.4 TestClientWorkspace_AgentReadyErr_WorkspaceGone": READY,
    "wire.md 9.4 TestClientWorkspace_ConfigChangedRefreshesSiblingCache": _in(
        "client/test_recovering", "what_one_client_sets_every_client_hears_of_and_finds_in_the_configuration"
    ),
    "wire.md 9.4 TestTranslateEvent_UpdateAvailable": _in(
        "client/test_recovering", "that_a_newer_version_is_there_is_told_with_both_versions"
    ),
    "wire.md 9.4 TestProtoToMessageToolResult": _in(
        "protocol/test_wire_messages", "a_tool_result_keeps_everything_it_carries"
    ),
    "wire.md 9.4 TestServer_RefusesShutdownWhileWorkspaceLive": _in(
        "client/test_client", "the_server_says_what_it_is_and_what_it_can_do"
    ),
    "wire.md 9.6 TestRunStream_ToolUseDoesNotTerminate": _in(
        "client/test_hearing", "no_message_ends_a_run_whatever_its_reason_to_finish"
    ),
    "wire.md 9.6 TestRunStream_RunCompleteExits": [
        *_in("client/test_hearing", "no_message_ends_a_run_whatever_its_reason_to_finish"),
        *_in("cli/test_run", "stdout_is_the_final_text_once_and_nothing_that_was_said_on_the_way"),
    ],
    "wire.md 9.6 TestRunStream_ReconcilesOnOutOfOrderRunComplete": _in(
        "client/test_hearing", "an_ending_that_comes_first_carries_the_answer_itself"
    ),
    "wire.md 9.6 TestRunStream_ReconcilesPartialStream": _in(
        "cli/test_printing", "only_what_is_missing_of_the_answer_is_printed_at_its_end"
    ),
    "wire.md 9.6 TestRunStream_IgnoresOtherSessions": FOREIGN,
    "wire.md 9.6 TestRunStream_ErrorRunComplete": _in(
        "client/test_hearing", "a_run_that_went_wrong_says_what_and_one_that_was_cancelled_is_no_failure"
    ),
    "wire.md 9.6 TestRunStream_CancelledRunCompleteIsClean": _in(
        "client/test_hearing", "a_run_that_went_wrong_says_what_and_one_that_was_cancelled_is_no_failure"
    ),
    "wire.md 9.6 TestRunStream_LeadingWhitespaceTrimmedOnce": _in(
        "cli/test_printing", "leading_blanks_are_trimmed_once_whether_they_came_early_or_late"
    ),
    "wire.md 9.6 TestRunStream_StopSpinnerInvokedOnFirstOutput": _in(
        "cli/test_printing", "the_spinner_is_gone_before_anything_is_printed"
    ),
    "wire.md 9.6 TestRunStream_RunIDFiltersForeignTurns": [
        *FOREIGN,
        *_in("cli/test_attending", "a_run_in_a_busy_session_waits_for_its_turn_and_neither_shows_nor_ends_as_another"),
    ],
    "wire.md 9.6 TestRunStream_RunIDSuppressesLiveMessagesAndPrintsRunComplete": _in(
        "client/test_hearing", "words_that_nobody_signed_are_not_ours_and_only_the_ending_is_believed"
    ),
    "wire.md 9.6 TestRunStream_AgentErrorRunIDFiltersForeign": [*FOREIGN, *TROUBLE],
    "wire.md 9.6 TestRunStream_AgentErrorNoRunIDFiltersBySession": [*FOREIGN, *TROUBLE],
    "wire.md 9.6 TestRunStream_NoRunIDFallsBackToSessionID": UNNAMED,
    "wire.md 9.6 TestLogoutContext_CreatesValidContext": _in(
        "cli/test_login", "a_key_is_forgotten_with_all_that_stood_around_it"
    ),
    "wire.md 9.6 TestLogoutCmd_ValidArgs": _in("cli/test_login", "a_key_is_forgotten_with_all_that_stood_around_it"),
    "wire.md 9.6 TestProjectsEmpty": _in("cli/test_setting_up", "what_needs_no_server_starts_none"),
    "wire.md 9.6 TestProjectsJSON": _in(
        "cli/test_setting_up", "a_database_is_checked_copied_and_compacted_and_its_project_remembered"
    ),
    "wire.md 9.6 TestRestartIfStale_HonorsRefusedShutdown": STAYS,
    "wire.md 9.6 TestRestartIfStale_LeavesLegacyServerBusy": TOO_OLD,
    "wire.md 9.6 TestRestartIfStale_ShutsDownLegacyServerWhenIdle": TOO_OLD,
    "wire.md 9.6 TestRestartIfStale_RestartsWhenServerAgrees": _in(
        "client/test_local", "one_of_another_build_is_asked_once_to_leave_and_replaced_if_it_does"
    ),
    "wire.md 9.6 TestRestartIfStale_MatchingServerUntouched": _in(
        "client/test_local", "a_server_of_this_build_is_used_and_told_nothing"
    ),
    "wire.md 9.6 TestCreateWorkspaceOnLiveServer_RetriesPastExitingServer": REPLACED,
    "wire.md 9.6 TestCreateWorkspaceOnLiveServer_GivesUpOnOtherFailures": REPLACED,
    "wire.md 1.7 any number of clients start one server": _in(
        "client/test_local", "twenty_clients_that_begin_at_once_find_one_server"
    ),
    "pains 1 a permission nobody answers": [
        *_in("cli/test_run", "what_needed_a_person_is_refused_and_the_exit_code_says_so"),
        *_in("cli/test_original", "what_the_server_asks_is_answered_from_here_and_never_waited_for"),
    ],
    "pains 2 an open, silent stdin": _in("cli/test_run", "an_open_pipe_that_says_nothing_keeps_nobody_waiting"),
    "pains 4 the work is done and the process stays": [
        *_in("cli/test_frame", "a_thread_and_a_child_that_somebody_left_behind_keep_nobody_waiting"),
        *_in("cli/test_run", "a_command_left_running_in_the_background_keeps_nobody_waiting"),
    ],
    "pains 5 no final line": [
        *_in("cli/test_run", "every_line_of_the_stream_is_json_and_the_last_is_the_ending"),
        *_in("cli/test_run", "the_first_signal_cancels_the_run_and_its_ending_is_the_last_line"),
        *_in("cli/test_run", "the_second_signal_leaves_at_once_and_the_run_ends_all_the_same"),
        *_in("cli/test_pages", "the_ending_has_the_keys_that_are_promised_in_their_order"),
    ],
    "pains 6 exit 0 on failure": [
        *_in("cli/test_frame", "the_exit_code_is_a_function_of_how_the_run_ended"),
        *_in("cli/test_pages", "every_exit_code_stands_in_the_table_and_no_other"),
    ],
    "pains 7 exit 1 after an error that was recovered from": _in(
        "cli/test_run", "a_stream_that_is_cut_is_asked_again_and_the_answer_is_there_once"
    ),
    "pains 8 retryable or fatal": _in("cli/test_frame", "the_exit_code_is_a_function_of_how_the_run_ended"),
    "pains 9 a provider that is not there, or refuses the key": [
        *_in("cli/test_run", "a_provider_that_cannot_be_reached_is_given_up_in_time_and_may_be_tried_again_later"),
        *_in("cli/test_run", "what_a_provider_refuses_for_good_fails_at_once"),
        *_in("engine/turns/test_retries", "nobody_listening_is_known_within_ten_seconds"),
    ],
    "pains 10 a session is continued headless": _in(
        "cli/test_run", "a_session_is_continued_by_name_by_prefix_and_by_being_the_last"
    ),
    "pains 19 the same request twice is one run": _in(
        "cli/test_run", "one_key_is_one_run_however_often_and_from_wherever_it_is_asked_for"
    ),
    "pains 25 a server killed in the middle of a run": [
        *_in("cli/test_run", "a_server_that_is_killed_is_found_again_and_the_ending_is_reported"),
        *_in(
            "cli/test_attending",
            "a_server_that_stays_lost_is_waited_for_a_while_and_then_nobody_can_say_how_it_ended",
        ),
    ],
    "pains 31 many processes in one workspace": _in(
        "cli/test_run", "sixteen_runs_at_once_in_one_directory_each_end_with_their_own_answer"
    ),
    "pains 32 another version": _in(
        "client/test_local", "one_of_another_build_is_asked_once_to_leave_and_replaced_if_it_does"
    ),
    "agent-core.md 8-I 9 a stream that is cut is noticed, and its end is no success": [
        *DROPPED,
        *_in(
            "cli/test_original",
            "a_stream_that_is_cut_before_the_ending_is_no_success_and_the_answer_is_found_all_the_same",
        ),
    ],
    "agent-core.md 8-I 11 nothing that was told is cut off": _in(
        "client/test_hearing", "fragments_in_any_order_twice_and_with_holes_are_each_heard_once"
    ),
    "tools-config-ui.md 5 a model for one run changes nothing": _in(
        "cli/test_run", "a_model_is_chosen_for_one_run_and_nothing_is_changed_by_it"
    ),
}
