"""What the place where prompts are written promises, and the tests that prove it."""


def _in(file: str, *tests: str) -> list[str]:
    return [f"tests/tui/editor/test_{file}.py::test_{test}" for test in tests]


PROMISES: dict[str, list[str]] = {
    "tools-config-ui.md 6.2 editor: enter sends or queues": [
        *_in("sending", "enter_sends_what_was_written_and_begins_anew"),
        *_in("sending", "while_a_run_goes_on_it_is_said_that_a_prompt_waits"),
    ],
    "tools-config-ui.md 6.2 editor: shift+enter, ctrl+j and a backslash before enter make a line": _in(
        "sending", "a_new_line_is_made_in_several_ways_and_sends_nothing"
    ),
    "tools-config-ui.md 6.2 editor: ctrl+o opens $EDITOR with the draft": _in(
        "outside",
        "the_draft_goes_to_the_editor_and_the_text_comes_back",
        "an_editor_that_fails_changes_nothing_and_it_is_said",
    ),
    "tools-config-ui.md 6.2 editor: ctrl+v attaches the clipboard's image": _in(
        "attachments",
        "the_picture_in_the_clipboard_is_attached",
        "a_clipboard_without_a_picture_that_can_be_attached_is_said",
        "where_no_program_reads_the_clipboard_it_is_said_which_would",
    ),
    "tools-config-ui.md 6.2 editor: ctrl+r and a digit, or r, remove attachments": _in(
        "attachments", "chips_are_removed_by_their_number_or_all_at_once"
    ),
    "tools-config-ui.md 6.2 editor: up and down at the edges browse the history of all sessions": _in(
        "browsing",
        "up_and_down_go_through_what_was_said_in_all_sessions_and_keep_the_draft",
        "within_a_text_up_and_down_move_first",
    ),
    "tools-config-ui.md 6.2 completions: keys": _in(
        "completing",
        "up_and_down_choose_among_what_is_offered_and_move_no_cursor",
        "other_keys_choose_as_well",
        "esc_closes_what_is_offered_until_something_else_is_written",
        "a_name_can_be_written_while_one_goes_on_choosing",
    ),
    "tools-config-ui.md 6.2 exit and quit in the editor leave": _in("sending", "a_word_that_means_to_leave_leaves"),
    "tools-config-ui.md 6.4 @ completes files, ranked, ignored ones left out; choosing writes and attaches": [
        *_in("fuzzy", "each_way_to_fit_has_its_rank", "the_best_names_come_first"),
        *_in("completing", "a_file_that_is_chosen_is_written_and_attached_and_the_session_has_seen_it"),
        *_in("completing", "hidden_and_ignored_files_are_not_offered"),
        "tests/house/test_file_names.py::test_files_are_named_nearest_first_without_hidden_and_ignored_ones",
        "tests/house/test_file_names.py::test_the_settings_say_how_deep_and_how_many",
    ],
    "tools-config-ui.md 6.4 attachments are chips with a mouse target": _in(
        "attachments", "a_chip_is_removed_with_the_mouse"
    ),
    "tools-config-ui.md 6.4 large pastes and pasted paths of pictures attach": [
        *_in("pasting", "text_over_the_limits_is_attached_and_text_at_them_is_not"),
        *_in("pasting", "paths_of_pictures_are_read_however_a_terminal_writes_them"),
        *_in("attachments", "a_small_paste_is_written_and_a_large_one_becomes_an_attachment"),
        *_in("attachments", "the_paths_of_pictures_that_are_pasted_attach_them"),
    ],
    "tools-config-ui.md 6.4 a model that sees no pictures is named as one": _in(
        "attachments", "it_is_said_where_the_model_does_not_see_pictures"
    ),
    "tools-config-ui.md 6.4 no attachment is larger than 5 MB": _in(
        "attaching", "what_cannot_be_attached_is_said_with_its_name", "pastes_are_numbered_on_and_bounded"
    ),
    "tools-config-ui.md 6.4 an exclamation mark begins a shell line": _in(
        "shell",
        "an_exclamation_mark_begins_a_line_for_the_shell_and_enter_runs_it",
        "esc_leaves_the_shell_and_so_does_backspace_on_an_empty_line",
    ),
    "a draft is kept for each session, and lost neither by leaving nor by being killed": [
        *_in("keeping", "each_session_has_its_own_draft", "a_draft_is_there_again_in_the_next_terminal"),
        *_in("keeping", "a_draft_survives_a_terminal_that_is_killed"),
        *_in("drafts", "a_draft_survives_a_process_that_is_killed_while_it_writes"),
        *_in("keeping", "what_is_written_while_a_session_begins_belongs_to_it"),
    ],
    "drafts take no more room than they may, and nobody else can read them": _in(
        "drafts",
        "the_oldest_drafts_go_when_there_are_too_many",
        "the_oldest_drafts_go_when_they_take_too_much_room",
        "a_draft_is_readable_by_its_owner_alone",
    ),
    "a prompt that is sent without a server waits for it": _in(
        "sending",
        "without_a_server_a_prompt_waits_and_is_sent_when_the_server_is_back",
        "a_prompt_that_waits_for_the_server_stays_when_somebody_writes_on_or_says_so",
    ),
    "keys that come together are obeyed in the order they were pressed": [
        *_in("writing", "keys_that_come_together_with_letters_do_what_they_do_one_after_another"),
        *_in("writing", "a_new_line_and_what_is_sent_are_where_they_were_pressed"),
        "tests/e2e/test_typing.py::test_keys_that_arrive_in_one_piece_are_obeyed_in_their_order",
    ],
    "a mistaken command and a line for the shell are never sent to the model": [
        *_in("commanding", "a_mistaken_command_stays_where_it_was_written_and_a_space_sends_it"),
        *_in("shell", "a_line_for_the_shell_that_was_left_is_never_a_prompt_and_is_there_again_in_the_shell"),
    ],
    "an editor that fails gives the terminal back": [
        "tests/e2e/test_typing.py::test_an_editor_that_fails_gives_the_terminal_back_and_leaves_the_draft"
    ],
    "one can write as in vi": [
        *_in("vim", "keys_do_what_they_do_in_vi", "no_keys_lead_out_of_the_text"),
        *_in("vi_keys", "keys_write_until_esc_and_are_commands_after_it"),
        *_in("vi_keys", "what_commands_did_is_undone_and_done_again_one_by_one"),
    ],
    "tools-config-ui.md 4.9 our own ignore files and the person's": [
        "tests/tools/test_search.py::test_our_own_ignore_files_count_everywhere_and_so_do_those_of_the_person"
    ],
}
