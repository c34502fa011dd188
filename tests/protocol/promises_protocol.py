"""What the wire's description promises of its encoding, and the tests that prove it.

A promise is named by its place in the description (`wire.md`): a section, a trap, or a test of the original.
"""


def _in(file: str, *tests: str) -> list[str]:
    return [f"tests/protocol/test_{file}.py::test_{test}" for test in tests]


PROMISES: dict[str, list[str]] = {
    "wire.md 9.1 TestMessageToProtoToolResult": _in("wire_messages", "a_tool_result_keeps_everything_it_carries"),
    "wire.md 9.1 TestSkillsEventToProto_RoundTrip": _in(
        "wire_events", "skills_are_told_with_a_number_and_the_error_of_the_bad_one"
    ),
    "wire.md 9.1 TestRunCompleteToProto_RoundTrip": _in(
        "wire_events", "a_completed_run_has_exactly_the_originals_bytes"
    ),
    "wire.md 9.1 TestAgentErrorToProto_PreservesRunID": _in(
        "wire_events", "an_error_of_the_agent_is_plain_text_and_names_the_run"
    ),
    "wire.md 9.1 TestRunCompleteToProto_Error": _in("wire_events", "an_error_and_a_cancel_survive_together"),
    "wire.md 9.1 TestUpdateAvailableMsgToProto_RoundTrip": _in(
        "wire_events", "a_newer_version_is_told_with_both_versions"
    ),
    "wire.md 9.1 TestMCPChannelMessageNotWrappedAsStateChange": _in(
        "wire_events", "what_mcp_says_and_the_stream_has_no_word_for_is_dropped"
    ),
    "wire.md 9.1 TestMCPUnknownEventTypeNotMappedToStateChange": _in(
        "wire_events", "what_mcp_says_and_the_stream_has_no_word_for_is_dropped"
    ),
    "wire.md 9.5 TestPermissionRequestParamsTypeAssertable": _in(
        "wire_requests", "the_params_of_every_tool_with_a_dialog_keep_their_shape_both_ways"
    ),
    "wire.md 9.5 TestConfigProviderKeyRequestStringRoundTrip": _in(
        "wire_resources", "a_key_of_kind_string_is_that_string"
    ),
    "wire.md 9.5 TestConfigProviderKeyRequestOAuthRoundTrip": _in(
        "wire_resources", "a_key_of_kind_oauth_is_that_login"
    ),
    "wire.md 9.5 TestConfigProviderKeyRequestUnknownKind": _in(
        "wire_resources", "a_key_of_another_kind_is_refused_by_its_name"
    ),
    "wire.md 9.5 TestConfigProviderKeyRequestMalformedPayload": _in(
        "wire_resources", "a_key_that_is_not_of_its_kind_is_refused_without_being_shown"
    ),
    "wire.md 2.1 body decoding": _in(
        "wire_reading",
        "only_the_first_json_value_of_a_body_counts",
        "a_key_matches_whatever_its_case",
        "of_a_key_that_comes_twice_the_last_wins",
        "an_empty_body_is_refused_where_one_is_needed",
        "no_body_does_worse_than_being_refused",
        "no_value_in_a_known_field_does_worse_than_being_refused",
    ),
    "wire.md 2.2 UUID spellings": _in(
        "wire_reading",
        "every_spelling_of_a_uuid_is_accepted_and_kept_as_it_came",
        "what_is_no_uuid_is_refused_with_the_reason",
        "a_client_id_that_is_missing_is_refused_in_the_words_of_its_place",
    ),
    "wire.md 4.2 parts, with detail our own clients see": _in(
        "wire_messages",
        "a_message_has_exactly_the_originals_bytes_and_is_read_back_from_them",
        "any_message_comes_back_from_the_wire_as_it_went",
        "what_only_the_provider_may_see_again_is_not_on_the_wire",
        "merging_loses_no_word_and_changes_no_other_part",
    ),
    "wire.md 5.9 configuration": _in(
        "config",
        "every_key_of_a_configuration_is_read_and_written_in_the_originals_order",
        "no_key_and_no_token_is_ever_printed",
    ),
    "wire.md T-01, T-48": _in(
        "wire",
        "an_envelope_is_three_objects_in_one_another_and_no_string",
        "whatever_is_said_fits_on_one_line_of_json_in_utf_8",
    ),
    "wire.md T-03, T-55": _in(
        "wire_events",
        "the_state_of_an_mcp_server_is_one_of_five_words",
        "the_state_of_a_language_server_is_a_number",
    ),
    "wire.md T-04": _in("wire", "a_moment_is_told_in_the_servers_zone_and_never_is_the_year_one"),
    "wire.md T-05": _in("wire_messages", "every_integer_of_a_message_is_written_as_an_integer"),
    "wire.md T-06, T-07": _in(
        "wire_events",
        "every_event_of_the_agent_carries_a_message_with_parts",
        "no_key_of_an_event_is_null_where_the_original_would_fall_over_it",
        "a_payload_of_null_does_no_harm",
    ),
    "wire.md T-08, T-10": _in(
        "wire_messages",
        "only_a_binary_part_has_capitals_and_its_data_is_padded_standard_base64",
        "every_binary_is_standard_base64_with_padding",
    ),
    "wire.md T-09": _in("wire_messages", "a_part_of_a_kind_nobody_knows_costs_no_other_part_its_place"),
    "wire.md T-13": _in("wire_messages", "what_is_empty_is_left_out_and_what_is_always_there_stays")
    + _in("wire_sessions", "an_empty_session_has_exactly_the_originals_bytes"),
    "wire.md T-17": _in(
        "wire_sessions",
        "what_a_change_does_not_say_is_not_set_to_zero",
        "a_change_is_sent_in_both_spellings_so_that_no_server_zeroes_what_it_misses",
    ),
    "wire.md T-18": _in("wire_sessions", "a_file_is_read_from_every_spelling_without_loss"),
    "wire.md T-19, T-56": _in(
        "wire_requests",
        "our_answer_sends_null_params_because_the_original_refuses_the_text_it_sent",
        "params_that_fit_no_dialog_are_shown_as_null_rather_than_half",
    ),
    "wire.md T-20": _in("wire_requests", "the_originals_answers_are_read_by_request_id_and_leave_the_batch_empty"),
    "wire.md T-42, T-44": _in("wire_resources", "an_error_has_one_key_and_it_is_message")
    + _in("config", "an_empty_configuration_still_has_what_the_originals_client_reads_unasked"),
}
