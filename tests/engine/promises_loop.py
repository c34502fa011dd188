"""What the original promised by its own tests of its loop, and what it does not keep, and the tests here that prove it.

A row of section 7.1 names one of the original's tests; a row of section 8 one of its weaknesses, with tests that would
fail on it. What is a decision is proved in `core` as well, what a provider hears in `models`.

Without a row, since nothing here answers to it: of section 7.1 `TestMain` (it sets a log level for tests) and
`TestRunWaitsForMCPOnlyWhenNonInteractive` (no server of tools is waited for).
"""


def _turns(file: str, *tests: str) -> list[str]:
    return [f"tests/engine/turns/test_{file}.py::test_{test}" for test in tests]


def _engine(file: str, *tests: str) -> list[str]:
    return [f"tests/engine/test_{file}.py::test_{test}" for test in tests]


def _models(file: str, *tests: str) -> list[str]:
    return [f"tests/models/test_{file}.py::test_{test}" for test in tests]


def _house(file: str, *tests: str) -> list[str]:
    return [f"tests/house/test_{file}.py::test_{test}" for test in tests]


def _server(file: str, *tests: str) -> list[str]:
    return [f"tests/server/test_{file}.py::test_{test}" for test in tests]


ORDER = _turns("steps", "text_thinking_and_calls_keep_their_order_and_thinking_its_signature")
FAILING_TOOL = _turns("tool_calls", "a_tools_failure_is_an_answer_and_costs_no_other_call_anything")
CHILD = _turns("sub_agents", "a_child_session_answers_its_parents_call")
CHILD_FAILS = _turns("sub_agents", "a_child_without_an_answer_is_told_to_the_model_and_the_parent_goes_on")
CHILD_PAID = _turns("sub_agents", "a_child_is_paid_for_by_its_parent_however_it_ends")
CHILDREN_PAID = _turns("sub_agents", "children_that_overlap_lose_no_cost")
READY = _turns("steps", "getting_ready_can_be_cancelled")
EFFORT = _models(
    "requests",
    "a_model_is_told_to_think_in_its_provider_s_words",
    "claude_thinks_by_budget_where_it_knows_no_efforts_and_then_takes_no_temperature",
)
DAMAGED = ["tests/core/test_history.py::test_damaged_media_are_replaced_under_the_same_call"]
REFUSED = _server("refusals", "a_prompt_is_refused_for_the_first_thing_that_is_wrong")

PROMISES: dict[str, list[str]] = {
    # The original's own tests of its coordinator, its sub-agents and its steps.
    "agent-core 7.1 TestRunSubAgent": [
        *CHILD,
        *CHILD_FAILS,
        *CHILD_PAID,
        *_turns("sub_agents", "a_child_may_ask_the_model_its_parent_was_told_to_use"),
    ],
    "agent-core 7.1 TestUpdateParentSessionCost": [*CHILD_PAID, *CHILDREN_PAID],
    "agent-core 7.1 TestGetProviderOptionsReasoningEffort": EFFORT,
    "agent-core 7.1 TestGetProviderOptionsReasoningEffortFallback": EFFORT,
    "agent-core 7.1 TestIsUnauthorized": [
        *_models("adapters", "a_wrong_key_is_trouble_with_the_key_and_does_not_tell_it"),
        *_models("bedrock", "a_403_of_awss_may_be_what_others_call_401"),
    ],
    "agent-core 7.1 TestBuildAgentReadinessSurvivesCallerCancellation": [
        *READY,
        *_turns("steps", "one_failed_lookup_of_the_tools_or_prompts_spoils_no_later_run"),
    ],
    "agent-core 7.1 TestCoderAgent": [
        *_turns("tool_calls", "calls_that_may_overlap_do_and_their_results_stand_in_the_calls_order"),
        *_models("external", "a_tool_is_called_and_its_result_leads_to_the_answer"),
        *_models("cassette", "a_recorded_answer_is_heard_again_without_its_provider"),
    ],
    "agent-core 7.1 TestCreateUserMessage_RetainsAllAttachments": [
        *_turns("summaries", "the_run_goes_on_from_the_summary_with_its_task_its_files_and_what_was_added"),
        *_server("refusals", "attached_text_alone_is_a_prompt_and_arrives_whole"),
    ],
    "agent-core 7.1 TestProviderRetryLogFields": _turns(
        "retries", "what_was_heard_before_the_break_is_void_and_said_to_be"
    ),
    "agent-core 7.1 TestPersistCanceledTurn_SucceedsWithCanceledContext": _turns(
        "cancel", "a_cancel_takes_no_time_and_leaves_nothing_open"
    ),
    "agent-core 7.1 TestConvertToToolResult_InvalidBase64": DAMAGED,
    "agent-core 7.1 TestConvertToToolResult_ASCIIButInvalidBase64": DAMAGED,
    "agent-core 7.1 TestConvertToToolResult_ValidMedia": [
        *_models("requests", "a_picture_stays_in_its_tool_result_where_that_is_possible")
    ],
    "agent-core 7.1 TestConvertToToolResult_ValidMediaNoText": _models(
        "adapters", "a_picture_in_a_tool_result_reaches_the_model_behind_all_results"
    ),
    "agent-core 7.1 TestHookedTool_AllowStampsHookApproval": _server(
        "hooks", "a_hooks_yes_spares_the_question_is_in_the_audit_and_lifts_no_rule"
    ),
    "agent-core 7.1 TestHookedTool_SilentDoesNotStampApproval": _server(
        "hooks", "a_hook_may_rewrite_what_is_run_and_a_person_is_asked_about_that"
    ),
    "agent-core 7.1 TestHookedTool_DenySkipsInnerTool": _server(
        "hooks", "a_hooks_no_is_told_to_the_model_and_the_tool_is_not_used"
    ),
    "agent-core 7.1 TestWrapToolsWithHooks": _server("hooks", "hooks_see_what_sub_agents_do"),
    "agent-core 7.1 TestExtractAWSSSOURL": [
        *_house(
            "voices",
            "the_page_that_a_command_for_fresh_credentials_names_is_shown_while_it_waits",
            "a_page_is_the_first_safe_address_that_was_said_to_its_end",
        ),
        *_turns("authorisation", "where_to_sign_in_is_told_to_everybody_as_soon_as_it_is_known"),
    ],
    "agent-core 7.1 TestHasRepeatedToolCalls": _turns("budgets", "a_loop_ends_a_run_and_says_what_went_in_circles"),
    # What the original does not do well.
    "agent-core 8 item 17": _turns("steps", "a_prompt_that_joined_is_seen_at_every_later_step"),
    "agent-core 8 item 18": [
        *_turns(
            "full_disk",
            "a_result_that_could_not_be_written_is_not_lost_and_the_run_says_what_happened",
            "an_answer_that_could_not_be_written_is_written_with_the_ending",
        ),
        *_engine("draft", "a_run_whose_disk_stays_full_fails_with_that_reason_and_keeps_what_it_said"),
    ],
    "agent-core 8 item 19": [
        *CHILDREN_PAID,
        *_turns("titles", "a_title_is_paid_for_by_the_session_and_leaves_the_context_alone"),
    ],
    "agent-core 8 item 20": [
        *ORDER,
        *_models(
            "requests",
            "thinking_is_shown_again_only_to_the_model_that_did_it",
            "openai_s_sealed_thinking_goes_back_in_front_of_its_call",
            "gemini_s_signature_stays_with_its_call_and_a_stranger_s_call_gets_the_agreed_one",
            "openrouter_gets_its_reasoning_details_back_as_they_were",
        ),
    ],
    "agent-core 8 item 21": [
        *ORDER,
        *_engine("draft", "what_is_said_in_turns_keeps_its_order_and_everything_that_belongs_to_it"),
    ],
    "agent-core 8 item 22": _turns("steps", "what_a_person_does_between_a_call_and_its_result_does_not_part_them"),
    "agent-core 8 item 28": _turns("cancel", "a_summary_that_was_cancelled_leaves_nothing_and_does_not_go_on"),
    "agent-core 8 item 29": [
        *_server("cancel", "a_summary_is_a_run_that_others_can_cancel_and_that_outlives_its_request"),
        *_turns("summaries", "a_busy_session_is_not_summarised_and_what_comes_meanwhile_waits_its_turn"),
    ],
    "agent-core 8 item 30": _turns(
        "authorisation",
        "the_wait_ends_at_once_when_the_run_is_cancelled",
        "the_wait_for_credentials_ends_at_once_when_the_run_is_cancelled",
        "nobody_is_waited_for_longer_than_agreed",
    ),
    "agent-core 8 item 31": [
        *_house("voices", "a_person_signs_in_while_a_run_waits_and_it_goes_on"),
        *_turns("authorisation", "a_run_waits_for_a_person_to_sign_in_and_everybody_sees_it"),
    ],
    "agent-core 8 item 36": _turns(
        "cancel",
        "a_cancel_between_two_steps_starts_no_tool_and_asks_nothing",
        "a_tool_hears_of_the_cancel_and_what_it_asked_is_withdrawn",
    ),
    "agent-core 8 item 37": [
        *FAILING_TOOL,
        *_turns(
            "tool_calls",
            "a_question_asked_again_uses_no_tool_again",
            "arguments_that_cannot_be_read_are_told_to_the_model",
        ),
    ],
    "agent-core 8 item 38": [
        *READY,
        *_turns("steps", "one_failed_lookup_of_the_tools_or_prompts_spoils_no_later_run"),
        *_house("voices", "a_key_that_cannot_be_worked_out_spoils_nobody_elses"),
    ],
    "agent-core 8 item 40": _turns(
        "summaries", "a_busy_session_is_not_summarised_and_what_comes_meanwhile_waits_its_turn"
    ),
    "agent-core 8 item 41": _turns("budgets", "a_loop_ends_a_run_and_says_what_went_in_circles"),
    "agent-core 8 item 52": _engine("lasting", "after_many_runs_in_many_sessions_nothing_is_left_of_them_in_memory"),
    "agent-core 8 item 53": [
        *_engine("lasting", "a_title_that_is_looked_for_ends_with_its_workspace_and_writes_nothing_afterwards"),
        *_turns("titles", "a_title_that_takes_too_long_is_the_prompt_itself"),
    ],
    "agent-core 8 item 54": _engine("lasting", "a_long_line_is_worked_off_without_getting_deeper"),
    "agent-core 8 item 55": _engine("draft", "a_long_answer_writes_bytes_in_proportion_to_its_length"),
    "agent-core 8 item 56": _turns(
        "summaries",
        "what_was_written_to_the_cache_fills_the_context_too",
        "a_provider_that_says_the_context_is_full_is_believed",
    ),
    "agent-core 8 item 57": _turns(
        "titles",
        "a_child_session_is_never_given_a_title",
        "a_title_that_failed_costs_no_name_and_no_run",
        "a_name_a_person_gave_stays",
    ),
    "agent-core 8 item 59": [
        *_house(
            "briefing",
            "a_context_file_that_changes_is_told_with_the_next_question_and_nothing_else_changes_the_text",
            "another_branch_is_told_with_the_next_question",
        ),
        *_turns("steps", "every_step_has_the_tools_and_the_prompt_as_they_are_then"),
    ],
    "agent-core 8 item 60": [
        *REFUSED,
        *_server(
            "refusals",
            "a_session_that_is_not_there_is_told_where_one_is_needed",
            "a_summary_needs_an_agent_and_of_nothing_it_is_nothing",
        ),
    ],
}
