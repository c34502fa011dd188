"""What the original promised by its own tests, and the tests here that prove it of the decisions.

A reference names the fact sheet, its section and the original's test; a node id names a test of this directory. What
needs a clock, a disk or a socket to be proved is proved by the rooms that have them.
"""

HISTORY = "tests/core/test_history.py::"
STEP = "tests/core/test_step.py::"
BUDGET = "tests/core/test_budget.py::"
USAGE = "tests/core/test_usage.py::"
PERMISSION = "tests/core/test_permission.py::"
CLAIMS = "tests/core/test_claims.py::"
ADMISSION = "tests/core/test_admission.py::"
PROMPT = "tests/core/test_prompt.py::"

LEFT_OUT_PICTURES = f"{HISTORY}test_a_model_that_sees_is_shown_pictures_and_another_is_told_of_them"
REPAIRED = f"{HISTORY}test_a_conversation_is_repaired"
DAMAGED_MEDIA = f"{HISTORY}test_damaged_media_are_replaced_under_the_same_call"
ALWAYS_VALID = f"{HISTORY}test_any_messages_at_all_make_a_valid_conversation_and_replaying_it_changes_nothing"
KEPT_COUNTERS = f"{USAGE}test_what_a_provider_says_nothing_about_stays_as_it_was_known"
PRICE_RULES = f"{USAGE}test_a_reported_price_wins_and_flat_rates_and_estimates_are_free"
LOOP = f"{BUDGET}test_a_loop_is_the_same_step_more_than_five_times_in_the_last_ten"
LEVELS = f"{PERMISSION}test_the_highest_level_with_a_matching_rule_decides_and_in_it_a_deny_or_else_the_last"
UNASKED = f"{PERMISSION}test_where_nobody_is_to_be_asked_everything_goes_but_what_is_denied"
HELD = f"{CLAIMS}test_a_hold_runs_out_when_its_time_has_come"
CREATED = f"{CLAIMS}test_a_create_holds_the_workspace_for_its_grace_and_takes_a_goodbye_back"
ATTACHED = f"{CLAIMS}test_a_stream_attaches_and_takes_the_hold_away"
DETACHED = f"{CLAIMS}test_the_end_of_the_last_stream_leaves_a_grace_unless_goodbye_was_said"
RELEASED = f"{CLAIMS}test_a_goodbye_ends_a_hold_at_once_and_a_stream_with_its_end"
EITHER_OR = f"{CLAIMS}test_whatever_is_told_a_claim_is_attached_or_held_and_ends_once_all_streams_ended"
CHOSEN = f"{CLAIMS}test_each_client_chooses_and_leaves_a_session_for_itself"
ONLY_ATTACHED = f"{CLAIMS}test_only_a_client_with_a_live_stream_can_choose_and_is_counted"
ONE_DIRECTORY = f"{ADMISSION}test_whatever_is_told_a_directory_is_open_once_and_the_server_leaves_only_when_idle"
JOINED = f"{ADMISSION}test_a_second_create_of_the_same_directory_joins_the_first"
FINAL = f"{ADMISSION}test_the_decision_to_leave_is_final"
NO_LINGER = f"{ADMISSION}test_without_a_linger_the_last_workspace_to_close_is_the_end"

PROMISES: dict[str, list[str]] = {
    # The conversation a model is shown.
    "agent-core 7.1 TestPreparePrompt_FiltersImageAttachments": [
        LEFT_OUT_PICTURES,
        f"{HISTORY}test_attached_text_and_shell_commands_become_text",
        f"{HISTORY}test_the_reminder_stands_before_the_last_thing_a_person_said",
    ],
    "agent-core 7.1 TestPreparePrompt_OrphanedToolUse": [REPAIRED, ALWAYS_VALID],
    "agent-core 7.1 TestPreparePrompt_OrphanedToolUseMixed": [REPAIRED, ALWAYS_VALID],
    "agent-core 7.1 TestWorkaroundProviderMediaLimitations_TextOnlyModel": [
        f"{HISTORY}test_media_are_only_mentioned_to_a_model_that_reads_text_alone"
    ],
    "agent-core 7.1 TestWorkaroundProviderMediaLimitations_VisionModel": [
        f"{HISTORY}test_media_follow_as_a_persons_message_where_results_are_text"
    ],
    "agent-core 7.1 TestWorkaroundProviderMediaLimitations_AnthropicProvider": [
        f"{HISTORY}test_media_stay_in_the_result_where_the_provider_takes_them"
    ],
    "agent-core 7.1 BenchmarkBuildSummaryPrompt": [f"{PROMPT}test_the_request_for_a_summary_carries_the_todo_list"],
    "agent-core 7.6 TestToAIMessage_CorruptedMediaData": [DAMAGED_MEDIA],
    "agent-core 7.6 TestToAIMessage_ASCIIButInvalidBase64": [DAMAGED_MEDIA],
    "agent-core 7.6 TestToAIMessage_ValidMediaData": [
        f"{HISTORY}test_media_stay_in_the_result_where_the_provider_takes_them"
    ],
    # Going in circles.
    "agent-core 7.1 TestHasRepeatedToolCalls": [LOOP],
    "agent-core 7.1 TestGetToolInteractionSignature": [
        f"{BUDGET}test_a_step_is_known_by_what_it_did_and_not_by_its_ids"
    ],
    # Tokens and money.
    "agent-core 7.1 TestUsageIsZero": [f"{USAGE}test_usage_is_zero_only_if_every_counter_is"],
    "agent-core 7.1 TestFallbackStepUsageKeepsProviderUsage": [f"{USAGE}test_what_the_provider_reports_is_kept"],
    "agent-core 7.1 TestFallbackStepUsageEstimatesPromptAndAssistantText": [
        f"{USAGE}test_silence_is_estimated_from_both_sides"
    ],
    "agent-core 7.1 TestFallbackStepUsageEstimatesReasoning": [f"{USAGE}test_thinking_counts_on_both_sides"],
    "agent-core 7.1 TestFallbackStepUsageEstimatesToolCalls": [f"{USAGE}test_a_call_the_model_made_is_output_alone"],
    "agent-core 7.1 TestFallbackStepUsageEstimatesToolResults": [f"{USAGE}test_results_that_were_sent_are_input_alone"],
    "agent-core 7.1 TestFallbackStepUsageSkipsClientToolResultsAsOutput": [
        f"{USAGE}test_only_results_of_tools_the_provider_ran_are_output"
    ],
    "agent-core 7.1 TestFallbackStepUsageCountsProviderToolResultsAsOutput": [
        f"{USAGE}test_only_results_of_tools_the_provider_ran_are_output"
    ],
    "agent-core 7.1 TestFallbackStepUsageReturnsZeroWithoutContent": [
        f"{USAGE}test_without_anything_said_there_is_nothing_to_estimate"
    ],
    "agent-core 7.1 TestUpdateSessionUsageSkipsEstimatedCost": [KEPT_COUNTERS, PRICE_RULES],
    "agent-core 7.1 TestUpdateSessionUsageKeepsCountersForZeroUsage": [KEPT_COUNTERS, PRICE_RULES],
    "agent-core 7.1 TestUpdateSessionUsagePreservesOmittedCountersForPartialUsage": [KEPT_COUNTERS],
    "agent-core 7.1 TestUpdateSessionUsagePreservesCountersForTotalOnlyUsage": [KEPT_COUNTERS],
    "agent-core 7.1 TestUpdateSessionUsagePreservesPromptForOutputOnlyUsage": [KEPT_COUNTERS],
    "agent-core 7.1 TestUpdateSessionUsageKeepsCountersForEstimatedZeroUsage": [KEPT_COUNTERS],
    "agent-core 7.1 TestSummaryCompletionTokens": [f"{USAGE}test_after_a_summary_the_context_is_the_summary"],
    "agent-core 7.1 TestUpdateSessionUsageAddsProviderCost": [f"{USAGE}test_a_question_costs_what_its_tokens_cost"],
    # Permissions.
    "agent-core 7.7 TestPermissionService_AllowedCommands": [
        LEVELS,
        f"{PERMISSION}test_a_rule_is_read_as_people_write_it",
    ],
    "agent-core 7.7 TestPermissionService_SkipMode": [UNASKED],
    "agent-core 7.7 TestPermissionService_HookApproval": [UNASKED],
    "agent-core 7.7 TestPermissionService_SequentialProperties": [
        f"{PERMISSION}test_what_is_granted_is_the_shape_of_the_call_and_can_be_explained",
        f"{PERMISSION}test_a_grant_for_one_shape_of_command_allows_no_other",
    ],
    "agent-core 7.9 TestToPromptXML": [f"{PROMPT}test_rules_come_first_and_what_changes_most_comes_last"],
    "agent-core 7.9 TestToPromptXMLDisableModelInvocation": [
        f"{PROMPT}test_a_skill_only_a_person_calls_for_is_not_offered"
    ],
    "agent-core 7.9 TestToPromptXMLEmpty": [f"{PROMPT}test_what_is_not_there_is_not_mentioned"],
    "agent-core 7.9 TestToPromptXMLBuiltinType": [f"{PROMPT}test_rules_come_first_and_what_changes_most_comes_last"],
    "agent-core 7.9 TestApproxTokenCount": [f"{USAGE}test_four_bytes_are_about_one_token"],
    # Who keeps a workspace open.
    "wire 9.2 TestRegisterClient_Idempotent": [CREATED, f"{CLAIMS}test_creating_twice_is_one_claim"],
    "wire 9.2 TestAttachClient_ConsumesHold": [
        ATTACHED,
        f"{CLAIMS}test_the_grace_of_a_create_does_not_end_an_attached_client",
    ],
    "wire 9.2 TestAttachClient_WithoutPriorCreate": [ATTACHED],
    "wire 9.2 TestAttachClient_DuplicateStreams": [f"{CLAIMS}test_two_streams_of_one_client_both_have_to_end"],
    "wire 9.2 TestDetachClient_LastStreamTearsDown": [DETACHED, NO_LINGER],
    "wire 9.2 TestHoldExpiry_TearsDown": [HELD, NO_LINGER],
    "wire 9.2 TestReleaseHold_NoStreams": [RELEASED],
    "wire 9.2 TestReleaseHold_WithActiveStream": [
        RELEASED,
        f"{CLAIMS}test_a_goodbye_without_a_claim_changes_nothing_for_those_who_come_later",
    ],
    "wire 9.2 TestReleaseHoldThenAttach": [
        f"{CLAIMS}test_a_goodbye_without_a_claim_changes_nothing_for_those_who_come_later"
    ],
    "wire 9.2 TestRefcountWithSecondClient": [f"{CLAIMS}test_the_last_of_two_clients_closes_the_workspace"],
    "wire 9.2 TestHoldExpiry_RaceWithAttach": [HELD, ATTACHED, EITHER_OR],
    "wire 9.2 TestConcurrentAttachDetach": [EITHER_OR],
    "wire 9.2 TestRaceTwoClientsAttachOneDetaches": [f"{CLAIMS}test_the_last_of_two_clients_closes_the_workspace"],
    "wire 9.2 TestExplicitDeleteThenAttach": [f"{CLAIMS}test_a_hold_given_back_can_be_followed_by_a_claim_of_its_own"],
    "wire 9.2 TestDetachStream_GraceSurvivesReattach": [
        f"{CLAIMS}test_a_stream_lost_and_found_within_the_grace_keeps_the_workspace_open"
    ],
    "wire 9.2 TestDetachStream_GraceExpiryTearsDown": [DETACHED, HELD],
    "wire 9.2 TestDetachStream_ExplicitReleaseSkipsGrace": [DETACHED],
    "wire 9.2 TestRegisterClient_RearmsGraceAndCancelsRelease": [
        CREATED,
        f"{CLAIMS}test_a_create_during_the_detach_grace_gives_a_whole_create_grace",
        f"{CLAIMS}test_a_create_takes_a_goodbye_back_before_the_stream_ends",
    ],
    "wire 9.2 TestSetCurrentSession_BasicAttachAndSwitch": [CHOSEN],
    "wire 9.2 TestSetCurrentSession_DetachClearsEntry": [
        f"{CLAIMS}test_the_chosen_session_is_kept_through_the_grace_and_forgotten_with_the_claim"
    ],
    "wire 9.2 TestSetCurrentSession_RejectsHoldOnly": [ONLY_ATTACHED],
    "wire 9.2 TestSetCurrentSession_UnknownClient": [ONLY_ATTACHED],
    "wire 9.2 TestSetCurrentSession_RaceWithDetach": [EITHER_OR],
    "wire 9.2 TestAttachedClients_BasicLifecycle": [CHOSEN, ONLY_ATTACHED],
    "wire 9.2 TestRetireClient_ReleasesEveryClaim": [
        f"{CLAIMS}test_retiring_reaches_every_workspace_and_orphans_those_left_empty",
        f"{CLAIMS}test_a_retired_client_has_no_claim_whatever_streams_it_has",
    ],
    # Which workspaces a server has, and when it leaves.
    "wire 9.2 TestPathDedupe_FullCreate": [JOINED, CREATED],
    "wire 9.2 TestPathDedupe_DifferentPaths_DifferentWorkspaces": [
        f"{ADMISSION}test_another_directory_is_another_workspace"
    ],
    "wire 9.2 TestCreateWorkspace_IdempotentSameClient": [JOINED, f"{CLAIMS}test_creating_twice_is_one_claim"],
    "wire 9.2 TestPathDedupe_ParallelCreates": [
        f"{ADMISSION}test_creates_of_one_directory_at_the_same_time_end_in_one_workspace",
        ONE_DIRECTORY,
    ],
    "wire 9.2 TestChannelOptInBoundary_DuplicateCreate": [
        f"{ADMISSION}test_channels_are_shared_only_if_they_are_the_same_in_the_same_order",
        f"{ADMISSION}test_channels_that_differ_from_the_winners_refuse_the_loser_of_a_race",
    ],
    "wire 9.2 TestTeardown_DefersShutdownWhileCreatePending": [
        f"{ADMISSION}test_a_create_in_flight_keeps_the_server_though_its_last_workspace_closes"
    ],
    "wire 9.2 TestTeardown_ShutsDownWhenIdleAndNoPending": [NO_LINGER],
    "wire 9.2 TestCreateWorkspace_PendingBalancedOnSuccess": [
        f"{ADMISSION}test_a_create_that_is_admitted_is_settled_by_what_was_built"
    ],
    "wire 9.2 TestCreateWorkspace_PendingBalancedAndReapsOnFailure": [
        f"{ADMISSION}test_a_failed_create_leaves_nothing_and_lets_the_idle_server_go"
    ],
    "wire 9.2 TestServer_CreateCancelsPendingIdleShutdown": [
        f"{ADMISSION}test_any_admitted_create_cancels_the_leaving"
    ],
    "wire 9.2 TestServer_ShutsDownAfterLingerWhenIdle": [
        f"{ADMISSION}test_the_last_workspace_to_close_sets_the_time_of_leaving",
        f"{ADMISSION}test_an_idle_server_leaves_once_the_linger_is_over",
    ],
    "wire 9.2 TestRetireClient_RefusesLaterCreates": [
        f"{ADMISSION}test_a_retired_client_opens_nothing_and_the_time_of_leaving_stands"
    ],
    "wire 9.2 TestRetireClient_DuringPendingCreate": [
        f"{ADMISSION}test_a_client_retired_while_its_workspace_is_built_is_refused_and_leaves_none"
    ],
    "wire 9.2 TestShutdownIfIdle_RefusesWhileWorkspaceLive": [
        f"{ADMISSION}test_a_request_to_leave_is_refused_while_a_workspace_lives_and_nothing_is_latched"
    ],
    "wire 9.2 TestShutdownIfIdle_RefusesWhileCreatePending": [
        f"{ADMISSION}test_a_create_in_flight_keeps_the_server_though_its_last_workspace_closes"
    ],
    "wire 9.2 TestShutdownIfIdle_GrantedAndFinal": [FINAL],
    "wire 9.2 TestIdleShutdown_RefusesLaterCreates": [FINAL],
    # What the original does not do well, and we promise.
    "agent-core 8 item 15": [REPAIRED, f"{STEP}test_a_call_that_was_not_received_whole_is_not_made"],
    "agent-core 8 item 17": [f"{HISTORY}test_a_crash_anywhere_and_any_interleaving_lose_no_result_that_was_given"],
    "agent-core 8 item 21": [f"{HISTORY}test_an_ordinary_conversation_is_shown_as_it_is"],
    "agent-core 8 item 22": [
        REPAIRED,
        ALWAYS_VALID,
        f"{HISTORY}test_a_crash_anywhere_and_any_interleaving_lose_no_result_that_was_given",
    ],
    "agent-core 8 item 41": [f"{BUDGET}test_a_loop_is_stopped_with_a_sentence_that_names_it"],
    "agent-core 8 item 47": [f"{CLAIMS}test_a_run_in_progress_keeps_the_workspace_open_if_so_agreed"],
    "agent-core 8 item 52": [f"{ADMISSION}test_only_so_many_retired_clients_are_remembered_and_they_are_the_last"],
    "agent-core 8 item 56": [
        f"{USAGE}test_the_context_holds_what_was_read_written_to_the_cache_and_read_from_it",
        f"{BUDGET}test_compacting_without_progress_comes_to_an_end",
    ],
    "agent-core 8 item 58": [
        "tests/core/test_contextfiles.py::test_a_file_alone_is_found_however_it_is_spelled",
        "tests/core/test_contextfiles.py::test_the_order_of_the_listing_does_not_show",
        f"{PROMPT}test_a_large_context_file_is_cut_and_the_rest_of_too_many_is_named",
        f"{PROMPT}test_the_order_in_which_servers_and_skills_were_found_does_not_show",
    ],
    "agent-core 8 item 61": [f"{HISTORY}test_the_reminder_tells_the_truth_about_the_todo_list"],
}
