"""What the original promises of its configuration, and what its users miss in it, with the tests that hold us to it.

A promise is named by its place in the description: section 8 of `tools-config-ui.md` is the original's own tests,
section 10 its weaknesses.
"""


def _in(file: str, *tests: str) -> list[str]:
    return [f"tests/settings/test_{file}.py::test_{test}" for test in tests]


PROMISES: dict[str, list[str]] = {
    "tools-config-ui.md 4.1 precedence": _in(
        "precedence",
        "the_higher_of_two_files_is_believed",
        "a_file_nearer_to_the_working_directory_is_believed_over_one_at_the_projects_root",
        "a_variable_is_believed_over_files",
        "what_was_asked_for_on_the_command_line_is_believed_over_every_file",
    ),
    "tools-config-ui.md 4.1 merge": _in(
        "merging",
        "objects_are_merged_key_by_key_and_scalars_replaced",
        "lists_add_up_and_nothing_is_said_twice",
        "another_type_replaces_what_was_there",
    ),
    "tools-config-ui.md 4.1 write scopes": _in("editing", "each_scope_has_its_file"),
    "tools-config-ui.md 4.3 crushrc": _in("crushrc", "a_script_says_what_a_file_of_json_says"),
    "tools-config-ui.md 4.5 expansion": _in(
        "expansion",
        "a_template_becomes_what_a_shell_makes_of_it",
        "a_command_is_replaced_by_what_it_says",
        "what_is_no_template_is_refused_by_its_name",
    ),
    "tools-config-ui.md 4.10 environment variables": _in("environment", "the_originals_variables_are_understood"),
    "tools-config-ui.md 8 config: lookup bounded by project": _in(
        "precedence",
        "a_file_above_the_projects_root_says_nothing",
        "without_a_repository_only_the_working_directory_speaks",
    ),
    "tools-config-ui.md 8 fs: lookup bounded by ownership": _in(
        "dirs", "a_parent_that_belongs_to_somebody_else_ends_the_search"
    ),
    "tools-config-ui.md 8 config: .crushrc beats crushrc beats JSON": _in(
        "precedence", "the_higher_of_two_files_is_believed"
    ),
    "tools-config-ui.md 8 config: invalid JSON names file": _in(
        "checking", "a_file_that_cannot_be_read_is_named_with_its_line"
    ),
    "tools-config-ui.md 8 config: conflict warning names keys": _in(
        "precedence", "one_directory_that_says_a_thing_in_json_and_in_a_script_is_told_which_keys"
    ),
    "tools-config-ui.md 8 config: defaults": _in("checking", "with_no_file_at_all_everything_has_its_default"),
    "tools-config-ui.md 8 config: provider matrix": _in(
        "providers",
        "a_provider_is_enabled_by_the_variable_that_holds_its_key",
        "the_three_with_credentials_of_their_own_are_found_by_them",
        "what_the_user_said_stands_over_the_catalogue_and_their_models_come_first",
        "a_provider_of_ones_own_that_cannot_work_is_left_out_with_the_reason",
        "a_provider_of_ones_own_may_be_asked_without_a_key_and_this_is_told",
        "a_key_that_is_a_command_counts_until_it_is_used",
        "a_disabled_provider_is_known_and_not_asked",
        "the_catalogue_can_be_left_aside",
    ),
    "tools-config-ui.md 8 config: default model selection and fallback": _in(
        "providers",
        "a_choice_that_is_not_possible_is_corrected_to_the_default",
        "small_is_the_large_one_where_a_provider_has_no_small_one",
    ),
    "tools-config-ui.md 8 config: recents": _in(
        "providers",
        "recent_models_are_newest_first_each_once_and_five_at_most",
        "choosing_a_model_is_written_down_with_the_recent_ones_of_its_slot",
    ),
    "tools-config-ui.md 8 config: env merge": _in(
        "environment",
        "programs_see_the_configured_variables_expanded_one_after_another",
        "a_key_for_us_alone_hides_the_general_one_from_providers",
    ),
    "tools-config-ui.md 8 config: agents with disabled tools": _in(
        "dirs", "an_agent_has_the_tools_that_are_allowed_to_it_and_not_disabled"
    ),
    "tools-config-ui.md 8 config: model pinned against a peer's write": _in(
        "reload", "a_model_chosen_here_stays_when_somebody_else_writes_another"
    ),
    "tools-config-ui.md 8 config: staleness": _in(
        "reload",
        "a_file_that_came_changed_or_went_makes_the_settings_stale",
        "a_file_replaced_by_one_of_the_same_size_and_time_is_noticed",
        "a_wrong_file_is_not_stale_until_it_changes_again",
    ),
    "tools-config-ui.md 8 config: reload after set and remove": _in("reload", "setting_a_key_and_reloading_shows_it"),
    "tools-config-ui.md 8 config: atomic multi-field": _in(
        "editing",
        "several_keys_are_set_in_one_step_and_null_removes",
        "a_change_that_makes_the_file_unusable_is_refused_and_nothing_is_written",
    ),
    "tools-config-ui.md 8 config: reload keeps old config when crushrc fails or hangs": [
        *_in("reload", "a_failing_script_changes_nothing_and_a_mended_one_is_used"),
        *_in("crushrc", "a_script_that_hangs_is_ended_and_the_settings_before_it_stay"),
    ],
    "tools-config-ui.md 8 config: atomic write and permissions": _in(
        "editing",
        "a_file_is_made_with_its_directory_for_its_owner_alone",
        "a_file_that_others_could_read_is_closed_to_them_when_it_is_written",
        "a_write_that_fails_leaves_the_old_file_and_nothing_beside_it",
    ),
    "tools-config-ui.md 8 config: attribution migration": _in(
        "checking", "the_earlier_way_to_set_attribution_is_understood"
    ),
    "tools-config-ui.md 8 config: clone isolation": _in(
        "merging", "settings_of_two_loads_share_nothing_that_can_change", "merging_changes_neither_of_the_two"
    ),
    "tools-config-ui.md 8 crushrc: add, remove and the rm alias": _in(
        "crushrc", "what_was_added_can_be_removed_again", "what_was_inherited_can_be_removed_too"
    ),
    "tools-config-ui.md 8 crushrc: unknown flags, subcommands and keys fail": _in(
        "crushrc",
        "a_word_used_wrongly_is_refused",
        "a_wrong_word_is_told_with_its_file_and_line_and_the_script_may_see_it_too",
    ),
    "tools-config-ui.md 8 crushrc: duplicates replaced": _in("crushrc", "adding_the_same_thing_again_replaces_it"),
    "tools-config-ui.md 8 crushrc: booleans in any case": _in("crushrc", "yes_can_be_written_in_any_case"),
    "tools-config-ui.md 8 crushrc: source and version": _in(
        "crushrc", "a_script_can_include_another_and_sees_the_version_and_its_own_directory"
    ),
    "tools-config-ui.md 8 hooks: invalid regex and empty command rejected": _in(
        "checking", "a_hook_that_cannot_work_is_refused_when_it_is_read"
    ),
    "tools-config-ui.md 8 hooks: event name normalisation": _in("checking", "hook_events_may_be_spelled_as_one_likes"),
    "tools-config-ui.md 8 shell: expansion success and error table": _in(
        "expansion",
        "a_template_becomes_what_a_shell_makes_of_it",
        "what_is_no_template_is_refused_by_its_name",
        "a_variable_that_must_be_set_says_why",
        "a_failing_command_is_told_by_its_template_and_complaint_without_a_secret",
        "what_a_command_complains_of_is_cut",
    ),
    "wire.md 9.6 TestSchemaNoBrokenRefs": _in("checking", "the_schema_names_nothing_that_is_not_in_it"),
    "wire.md 9.6 TestSchemaProvidersHasAdditionalProperties": _in(
        "checking", "the_schema_names_nothing_that_is_not_in_it"
    ),
    "tools-config-ui.md 10.7 environment is not process-global": [
        *_in("environment", "loading_changes_nothing_in_the_environment_of_the_server"),
        *_in("expansion", "only_the_environment_that_was_given_is_seen"),
    ],
    "tools-config-ui.md 10.22 an inherited item can be removed": _in(
        "merging", "a_reset_in_a_file_reaches_what_the_files_below_it_said"
    ),
    "tools-config-ui.md 10.27 a project's configuration runs nothing before it is trusted": _in(
        "trust",
        "what_could_run_or_leak_waits_for_trust_and_then_holds",
        "a_script_of_a_project_is_not_run_until_it_is_trusted",
        "content_that_changed_has_to_be_trusted_again",
        "keys_of_a_dotenv_are_taken_and_everything_else_in_it_waits",
    ),
    "pains: two writers of one file": _in("editing", "two_writers_at_once_lose_nothing_of_each_other"),
    "pains: secrets in answers to others": _in(
        "masking", "no_secret_survives_however_deep_it_is", "a_secret_is_hidden_wherever_it_can_be"
    ),
}
