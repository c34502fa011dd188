"""What the original's tests promise of tools, shell, permissions, questions and hooks, which of its defects are gone
here, and the tests that prove it.

A promise is named by its place in the description: section 8 of `tools-config-ui.md` is the original's own tests,
section 10 its known defects; 4 of `agent-core.md` is how it asks. What needs language servers or MCP is proved where
those are.
"""


def _in(file: str, *tests: str) -> list[str]:
    return [f"tests/{file}.py::test_{test}" for test in tests]


CORPUS = "tests/tools/test_shell.py::test_every_command_of_the_corpus_gets_its_verdict"
BANS_HOLD = _in(
    "tools/test_shell_disguises",
    "a_banned_command_stays_banned_behind_wrappers_and_inside_anything",
    "a_banned_name_stays_banned_however_it_is_quoted",
)
SAFE_IS_SAFE = _in(
    "tools/test_shell_disguises",
    "nothing_that_somebody_should_see_becomes_safe_inside_something_else",
    "whatever_is_called_safe_does_nothing_else_in_a_real_bash",
)
DENIED = _in(
    "tools/test_shell_denials",
    "every_way_of_running_a_denied_command_is_denied_or_shown_to_somebody",
    "a_denied_subcommand_is_not_let_through_where_its_command_is_allowed",
    "what_is_denied_stays_so_inside_anything",
    "what_is_denied_stays_so_under_any_name_and_behind_any_wrapper",
    "work_that_runs_nothing_denied_is_let_through",
) + _in("tools/test_shell_denials_in_bash", "whatever_is_let_through_runs_nothing_denied_in_a_real_bash")
LOOKED_UP = _in(
    "tools/test_bash",
    "a_command_that_looks_asks_nobody_unless_what_it_would_show_is_outside_or_a_secret",
    "looking_elsewhere_is_asked_about",
)
SHAPES = _in(
    "core/test_permission",
    "what_is_granted_is_the_shape_of_the_call_and_can_be_explained",
    "a_grant_for_one_shape_of_command_allows_no_other",
    "a_line_of_no_plain_shape_can_be_allowed_once_only",
)
KILLED = _in("e2e/test_server", "a_server_that_is_killed_leaves_no_process_of_its_runs_three_seconds_later") + _in(
    "e2e/test_server", "a_server_that_goes_takes_along_whatever_its_runs_have_started"
)
TWO_SESSIONS = _in("tools/test_changing_files", "two_sessions_see_each_others_change_before_they_overwrite_it")
UNDONE = [
    *_in("house/test_hands", "what_runs_changed_is_shown_taken_back_and_done_again"),
    *_in("core/test_file_history", "undo_and_redo_are_exact_after_any_sequence"),
    *_in("engine/test_recovery", "a_change_that_a_crash_interrupted_is_in_the_history_and_can_be_taken_back"),
]
FUZZED = _in(
    "tools/test_changing_files",
    "an_edit_does_what_replacing_in_the_bare_text_does",
    "several_edits_do_what_one_after_the_other_would",
)

PROMISES: dict[str, list[str]] = {
    # The house's own.
    "no mutation of a denied command becomes allowed": [*DENIED, *BANS_HOLD, *SAFE_IS_SAFE],
    "edits are what a naive reference makes of them": FUZZED,
    "undo and redo are exact after any sequence, a crash among it": UNDONE,
    "no link that appears after the judgement leads out of the workspace": _in(
        "tools/test_opening",
        "a_link_that_appears_after_the_judgement_is_not_followed",
        "nothing_is_created_behind_a_link_that_appeared",
        "a_link_in_the_history_s_path_is_a_conflict_and_not_followed",
    ),
    "what is taken back comes back with its bytes and its mode": _in(
        "house/test_taking_back",
        "an_encoding_that_the_change_did_not_show_any_more_comes_back",
        "a_file_that_comes_back_has_its_encoding_its_mark_and_its_mode",
        "a_creation_that_is_done_again_has_the_mode_it_was_left_with",
    ),
    "kill -9 of the server leaves no child process": KILLED,
    "two sessions that edit one file see each other": TWO_SESSIONS,
    # Section 0: what is true of every tool.
    "tools-config-ui.md 0 a failure is a result the model can read": [
        *_in("tools/test_registry", "no_tool_raises_for_parameters_that_make_no_sense"),
        *_in("tools/test_arguments", "what_cannot_be_read_is_told", "no_text_makes_it_raise"),
    ],
    "tools-config-ui.md 0 input that does not decode": _in("tools/test_arguments", "what_was_meant_is_read"),
    "tools-config-ui.md 0 conditional registration": _in(
        "tools/test_registry",
        "a_question_needs_somebody_who_answers",
        "a_disabled_tool_is_gone_and_an_allowed_list_keeps_to_itself",
    ),
    "tools-config-ui.md 0 parallel-safe tools": _in(
        "tools/test_registry", "only_tools_that_touch_nothing_in_common_may_overlap"
    ),
    "tools-config-ui.md 0 parameters": _in(
        "tools/test_registry", "parameters_are_as_promised_and_each_says_what_it_is"
    ),
    # Section 8: the original's own tests.
    "tools-config-ui.md 8 bash: default threshold moves to background": [
        *_in("tools/test_bash", "a_command_that_takes_long_goes_on_in_the_background"),
        *_in("house/test_shell_settings", "a_command_goes_on_in_the_background_and_is_stopped_when_the_settings_say"),
    ],
    "tools-config-ui.md 8 bash: chained command needs permission and denial stops it": [
        CORPUS,
        *_in(
            "tools/test_bash",
            "a_command_that_looks_asks_nobody_and_one_that_does_more_asks_with_its_parts",
            "a_persons_no_ends_the_turn_and_nothing_was_begun",
        ),
    ],
    "tools-config-ui.md 8 bash: truncation never splits a character": _in(
        "tools/test_output", "no_cut_goes_through_what_a_reader_sees_as_one_character", "short_output_is_not_touched"
    )
    + _in("tools/test_bash", "long_output_is_cut_in_the_middle_and_whole_in_a_file"),
    "tools-config-ui.md 8 bash: background start, list and kill": [
        *_in("tools/test_bash", "a_command_for_the_background_answers_at_once"),
        *_in("house/test_overview", "background_commands_of_all_sessions_are_listed_read_and_stopped"),
    ],
    "tools-config-ui.md 8 bash: output can be read many times": _in(
        "tools/test_jobs", "output_can_be_read_again_and_from_where_one_stopped"
    ),
    "tools-config-ui.md 8 bash: empty output": _in("tools/test_bash", "a_command_that_says_nothing_answers_no_output"),
    "tools-config-ui.md 8 bash: exit code visible": _in(
        "tools/test_bash",
        "a_failing_command_is_an_answer_with_its_exit_code",
        "a_command_killed_by_a_signal_says_which",
        "a_command_that_is_not_there_has_exit_code_127",
    ),
    "tools-config-ui.md 8 bash: bans also in background": _in(
        "tools/test_bash", "a_banned_command_is_refused_by_name_and_nothing_is_begun", "what_is_banned_can_be_set"
    ),
    "tools-config-ui.md 8 bash: stdout and stderr both captured": _in(
        "tools/test_bash", "output_and_errors_come_in_the_order_they_were_written"
    ),
    "tools-config-ui.md 8 bash: kill unknown id": _in("tools/test_jobs", "a_session_sees_and_ends_its_own_jobs_alone"),
    "tools-config-ui.md 8 edit: CRLF preserved": _in(
        "tools/test_changing_files",
        "endings_and_encoding_stay_and_no_other_byte_changes",
        "crlf_counts_as_one_ending_in_the_numbers",
    ),
    "tools-config-ui.md 8 edit: several matches without replace_all": _in(
        "tools/test_edit", "a_text_that_stands_twice_is_refused_unless_all_are_meant"
    ),
    "tools-config-ui.md 8 edit: diagnosis of mismatches": _in(
        "tools/test_edit",
        "what_is_not_found_is_answered_with_the_closest_place",
        "a_match_within_lines_that_differs_in_white_space_is_shown",
        "what_resembles_nothing_says_so",
    ),
    "tools-config-ui.md 8 edit: normalised match and re-indentation": _in(
        "tools/test_edit",
        "white_space_is_forgiven_when_one_place_fits_and_the_answer_says_so",
        "two_places_that_fit_apart_from_white_space_are_refused",
        "a_replacement_takes_the_indentation_of_the_file",
        "an_exact_match_carries_no_note",
    ),
    "tools-config-ui.md 8 multiedit": [
        *_in(
            "tools/test_write_and_multiedit",
            "each_edit_works_on_the_result_of_those_before",
            "edits_that_fail_are_told_and_the_others_are_kept",
            "when_all_edits_fail_nothing_is_asked_or_written",
            "a_first_edit_without_old_string_creates_the_file_the_others_work_on",
        ),
        FUZZED[1],
    ],
    "tools-config-ui.md 8 write: an empty new file": _in(
        "tools/test_write_and_multiedit", "a_new_file_is_written_with_its_folders_and_may_be_empty"
    ),
    "tools-config-ui.md 8 view": _in(
        "tools/test_view",
        "a_window_shows_exactly_its_lines",
        "a_long_line_is_cut_at_its_bytes_and_never_through_a_letter",
        "a_line_of_more_than_a_megabyte_is_read_past",
        "a_window_of_exactly_the_limit_is_shown_and_one_byte_more_is_not",
        "a_small_window_of_a_huge_file_costs_constant_memory",
        "an_image_is_given_by_what_its_bytes_say",
        "an_image_that_cannot_be_shown_is_an_answer",
        "a_skill_is_read_without_asking_and_whole",
    ),
    "tools-config-ui.md 8 glob: scoped prefix equals unscoped, no symlink escape, result cap": _in(
        "tools/test_search",
        "a_folder_named_in_the_pattern_or_as_path_gives_the_same_files",
        "a_link_is_neither_followed_nor_found",
        "a_hundred_files_are_shown_and_the_rest_is_told_of",
    ),
    "tools-config-ui.md 8 grep: ignore files in both implementations, columns, several matches": _in(
        "tools/test_search",
        "ignored_hidden_and_binary_files_are_not_searched",
        "matches_come_from_the_newest_file_first_with_line_and_letter",
    ),
    "tools-config-ui.md 8 web: rate limit, parsing, sourcegraph": _in(
        "tools/test_web",
        "an_engine_that_has_had_enough_is_not_asked_again",
        "results_are_read_from_the_search_page_without_detours_and_advertisements",
        "public_code_is_shown_with_its_surroundings_up_to_the_count",
        "a_code_search_without_results_says_why",
    ),
    "tools-config-ui.md 8 question": _in(
        "tools/test_talking",
        "questions_come_as_a_list_or_as_its_text",
        "questions_beyond_the_limits_are_refused_before_anybody_is_asked",
        "answers_are_told_in_the_order_of_the_questions",
    ),
    "tools-config-ui.md 8 crush_info": _in(
        "tools/test_telling",
        "sections_come_in_one_order_and_empty_ones_are_left_out",
        "every_section_is_shown",
        "no_secret_is_told_and_no_value_can_begin_a_section",
    ),
    "tools-config-ui.md 8 crush_logs": _in(
        "tools/test_telling",
        "the_newest_entries_are_shown_oldest_first",
        "fields_are_sorted_quoted_and_their_source_is_short",
        "values_that_are_secret_are_not_shown_at_any_depth",
        "lines_that_cannot_be_read_are_passed_over",
        "a_missing_and_an_empty_log_are_told_apart",
    ),
    "tools-config-ui.md 8 shell: run, env, cwd, isolation, cancel": _in(
        "tools/test_bash",
        "a_command_runs_where_it_is_told",
        "nothing_is_remembered_between_commands",
        "commands_of_one_workspace_run_side_by_side",
        "a_cancel_ends_a_busy_loop_of_the_shell_itself",
        "a_cancel_ends_when_nothing_of_the_command_is_left",
        "what_cannot_be_parsed_is_an_answer_too",
    ),
    "tools-config-ui.md 8 shell: non-interactive environment": _in(
        "tools/test_bash",
        "commands_run_in_the_clients_environment_with_nobody_at_the_keyboard",
        "the_overrides_replace_whole_names_only",
        "a_command_that_wants_a_terminal_fails_at_once_with_a_hint",
        "git_opens_no_editor_and_says_what_to_do_instead",
    ),
    "tools-config-ui.md 8 shell: scripts": _in("tools/test_bash", "scripts_run_as_their_first_line_says"),
    "tools-config-ui.md 8 shell: process isolation": _in(
        "tools/test_bash",
        "a_command_cannot_signal_the_server",
        "a_command_that_kills_its_launcher_is_over_and_leaves_nothing",
    ),
    "tools-config-ui.md 8 shell: argument blockers": [CORPUS],
    "tools-config-ui.md 8 hooks": [
        *_in(
            "tools/test_hooks",
            "a_no_wins_a_halt_stays_and_reasons_and_contexts_are_joined",
            "both_forms_of_json_are_understood_and_what_is_neither_is_no_opinion",
            "the_exit_code_says_it_too_and_any_other_is_a_failure",
            "patches_are_laid_on_the_input_in_order",
            "the_same_command_twice_is_asked_once_and_an_empty_one_never",
            "a_matcher_is_searched_in_the_name_and_one_that_is_none_matches_nothing",
            "what_is_wrong_with_a_configuration_is_told_by_its_place",
        ),
        *_in(
            "tools/test_hooks_run",
            "a_hook_finds_the_essentials_in_its_environment",
            "all_hooks_of_an_event_run_at_once_and_one_no_is_enough",
            "a_hook_that_takes_too_long_is_stopped_with_all_it_started_and_has_no_opinion",
        ),
    ],
    "tools-config-ui.md 8 permission: allowed commands": _in(
        "core/test_permission", "the_highest_level_with_a_matching_rule_decides_and_in_it_a_deny_or_else_the_last"
    ),
    "tools-config-ui.md 8 permission: hook approval": _in(
        "server/test_hooks", "a_hooks_yes_spares_the_question_is_in_the_audit_and_lifts_no_rule"
    ),
    "tools-config-ui.md 8 permission: session grants and races": _in(
        "server/test_requests",
        "of_many_answers_at_once_exactly_one_settles_it",
        "after_a_no_a_yes_comes_too_late",
        "what_was_allowed_for_the_session_is_not_asked_again_and_can_be_taken_back",
    ),
    # Section 10: defects of the original that are none here.
    "tools-config-ui.md 10.1 a safe command is judged by more than its beginning": [CORPUS, *SAFE_IS_SAFE, *LOOKED_UP],
    "tools-config-ui.md 10.2 a grant for one command is none for every other": [
        *SHAPES,
        *_in("server/test_permissions", "what_was_granted_for_the_session_covers_that_shape_there_and_nothing_else"),
    ],
    "tools-config-ui.md 10.3 reading has a border, and secrets are asked for": [
        *_in(
            "tools/test_search",
            "looking_outside_is_asked_for_and_a_no_is_final",
            "files_that_may_hold_secrets_are_searched_only_by_name_and_after_asking",
        ),
        *_in(
            "tools/test_changing_files",
            "a_link_to_the_outside_is_judged_by_where_it_leads",
            "secrets_are_asked_for_even_to_be_read",
        ),
        *LOOKED_UP,
    ],
    "tools-config-ui.md 10.5 hooks see what sub-agents do": _in("server/test_hooks", "hooks_see_what_sub_agents_do"),
    "tools-config-ui.md 10.6 a run without anybody has a policy and says what it was denied": _in(
        "server/test_permissions", "a_run_says_over_the_stream_and_in_its_view_what_nobody_was_there_to_allow"
    ),
    "tools-config-ui.md 10.7 jobs and relative paths are the workspace's": [
        *_in("tools/test_jobs", "leaving_one_workspace_ends_its_jobs_and_no_others"),
        *_in(
            "tools/test_jobs_detached",
            "it_outlives_its_workspace_and_is_found_and_stopped_when_that_is_opened_again",
            "the_end_of_the_server_is_its_end_too",
        ),
        *_in("tools/test_search", "a_relative_path_starts_at_the_workspace_and_not_at_the_process"),
    ],
    "tools-config-ui.md 10.9 requests and grants do not vanish": _in(
        "server/test_permissions",
        "a_restart_ends_what_waited_clearly_and_nothing_can_be_answered_afterwards",
        "what_is_granted_always_is_kept_for_every_workspace_until_it_is_revoked_in_one",
    ),
    "tools-config-ui.md 10.12 output is bounded and read on, commands can time out, the done take no room": [
        *_in(
            "tools/test_bash",
            "output_without_end_is_bounded_and_the_command_can_be_stopped",
            "a_timeout_stops_the_command_and_names_what_was_stopped",
        ),
        *_in(
            "tools/test_jobs",
            "output_can_be_read_again_and_from_where_one_stopped",
            "finished_jobs_take_no_room_from_running_ones",
            "the_end_of_a_job_is_told_once_with_the_next_command",
        ),
    ],
    "tools-config-ui.md 10.13 a change is atomic and keeps mode, encoding and endings": _in(
        "tools/test_changing_files",
        "the_mode_of_a_file_stays",
        "a_written_file_keeps_endings_mark_and_mode",
        "a_change_of_the_same_size_within_the_same_instant_is_noticed",
        "a_write_that_fails_leaves_the_old_bytes_and_nothing_else",
    ),
    "tools-config-ui.md 10.14 large contents are not kept in messages": _in(
        "tools/test_changing_files", "large_contents_are_kept_out_of_the_metadata"
    ),
    "tools-config-ui.md 10.15 context, modes and pages of grep, dashes, and hidden names of glob": _in(
        "tools/test_search",
        "context_shows_the_lines_around_a_match",
        "a_page_goes_on_where_the_last_one_ended",
        "names_and_counts_can_be_had_without_lines",
        "a_pattern_may_begin_with_a_dash",
        "files_come_by_length_of_path_and_then_by_name",
        "hidden_and_built_names_are_found_only_when_they_are_named",
    ),
    "tools-config-ui.md 10.17 a list that cannot be kept ends no turn": _in(
        "tools/test_talking", "a_list_that_cannot_be_kept_is_an_answer_and_the_old_one_stays"
    ),
    "tools-config-ui.md 10.21 the inner network is guarded": _in(
        "tools/test_web",
        "the_servers_own_network_is_asked_for_once_more",
        "a_redirect_to_the_inner_network_is_asked_for_too",
        "research_cannot_reach_the_inner_network_though_it_asks_for_nothing_else",
    ),
    # How people are asked.
    "agent-core 4.1 a request is bound to what it shows": _in(
        "server/test_permissions",
        "an_answer_is_bound_to_the_call_that_was_shown",
        "a_call_runs_in_the_environment_it_was_shown_with",
    ),
    "agent-core 4.1 the first answer wins, and the loser is told": _in(
        "server/test_permissions", "the_first_answer_decides_and_the_loser_is_told_who_had_and_how"
    ),
    "agent-core 4.1 several sessions wait at once": _in(
        "server/test_permissions", "several_sessions_wait_at_once_and_each_is_answered_by_itself"
    ),
    "agent-core 4.1 nobody waits for ever": _in(
        "server/test_permissions", "nobody_answering_in_time_is_a_no_that_everybody_sees"
    ),
    "agent-core 4.1 skipping belongs to a client's runs and is seen": _in(
        "server/test_permissions",
        "yolo_is_the_runs_of_one_client_and_everybody_sees_it",
        "yolo_can_be_about_one_session_alone_and_be_taken_back",
    ),
    "agent-core 4.2 questions are told apart by their batch": _in(
        "server/test_questions",
        "two_batches_wait_at_once_and_each_answer_goes_to_the_one_it_names",
        "the_second_answer_and_one_to_nothing_settle_nothing",
    ),
    "agent-core 4.3 hooks of every event": _in(
        "server/test_hooks",
        "a_hooks_no_is_told_to_the_model_and_the_tool_is_not_used",
        "after_a_call_a_hook_hears_its_result_and_may_add_to_it_or_object",
        "a_prompt_is_told_of_at_the_start_and_each_time_and_what_hooks_add_reaches_the_model",
        "the_end_of_a_run_and_the_need_of_a_person_are_told",
        "a_failing_hook_is_seen_and_denies_only_if_it_is_blocking",
    ),
    "pains 22 a cancel ends what it cancels, and says what it stopped": _in(
        "tools/test_bash", "a_cancel_ends_when_nothing_of_the_command_is_left"
    ),
    "pains 35 nothing is orphaned": KILLED,
}
