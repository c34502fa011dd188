"""What the original shows of a conversation and how one moves in it, with our tests of it.

A promise is named by its place in the description (section 6 of `tools-config-ui.md`) or by its own sentence.
"""


def _in(file: str, *tests: str) -> list[str]:
    return [f"tests/tui/chat/test_{file}.py::test_{test}" for test in tests]


PROMISES: dict[str, list[str]] = {
    "6.2 chat: lines, pages, halves, top, bottom with following": _in(
        "keys",
        "lines_scroll_one_by_one_and_the_end_is_followed_again_when_it_is_reached",
        "pages_scroll_by_what_is_in_sight",
        "the_beginning_and_the_end_are_a_key_away",
    ),
    "6.2 chat: items, prompts, expanding, copying, moving sideways": _in(
        "keys",
        "items_are_visited_one_by_one",
        "prompts_are_visited_one_by_one",
        "the_item_that_has_the_focus_expands_and_folds",
        "the_item_that_has_the_focus_is_copied_as_it_was_said",
        "a_wide_change_is_moved_sideways",
    ),
    "6.5 Markdown: the stable prefix is kept, the tail drawn again, at most 120 cells, links that open": _in(
        "markdown",
        "what_was_written_in_pieces_ends_as_what_is_read_at_once",
        "what_is_above_the_last_block_is_drawn_once_and_stays",
        "text_is_never_wider_than_is_good_to_read",
        "a_link_leads_where_it_says_and_nowhere_else",
    ),
    "6.5 a tool's use: sign, name, what it was used on, a body of ten lines that expands": _in(
        "tools",
        "what_a_tool_did_reads_well",
        "every_state_has_a_sign_and_a_word_beside_what_the_tool_was_used_on",
        "a_long_body_is_folded_to_ten_lines_and_expands",
        "copying_a_tools_use_gives_all_of_it_and_not_what_is_in_sight",
    ),
    "6.5 changes: unified or split by width, numbers, the language's colours, what differs within a line": _in(
        "tools", "a_change_stands_side_by_side_where_there_is_room", "what_differs_within_a_changed_line_is_marked"
    )
    + _in("diffs", "comparing_finds_what_a_diff_of_the_same_texts_tells"),
    "6.5 sub-agents: a compact tree of their calls, and their answer": _in(
        "fold", "a_sub_agents_calls_stand_below_the_call_that_began_it"
    )
    + _in("live", "who_comes_later_sees_what_a_sub_agent_did"),
    "6.5 cancelled, interrupted, failed: told with what was stopped and what to do": _in(
        "fold", "an_ending_that_is_not_as_usual_is_told"
    )
    + _in("live", "what_a_stop_stopped_is_told", "a_failure_says_what_to_do"),
    "6.5 the end is followed unless one scrolled away from it": _in(
        "window",
        "the_end_is_followed_while_words_come",
        "what_comes_below_moves_nothing_of_what_is_read_above_and_is_told",
    ),
    "6.6 mouse: wheel, click, drag, two clicks, three": _in(
        "mouse",
        "the_wheel_scrolls_three_lines_and_back_to_the_end",
        "a_click_on_a_heading_or_on_what_says_that_there_is_more_expands",
        "what_is_dragged_over_is_copied_without_margins",
        "two_clicks_take_a_word_and_three_a_line",
    ),
    "whatever order a conversation is told in, its items are those a fresh reader sees": _in(
        "fold",
        "remaking_what_changed_gives_what_remaking_all_gives",
        "after_whatever_was_missed_a_resume_shows_what_a_fresh_reader_sees",
        "missed_and_doubled_fragments_leave_no_trace",
    ),
    "what a model or a tool says cannot do anything to the terminal": _in(
        "tools", "what_a_tool_says_cannot_do_anything_to_the_terminal"
    )
    + _in("markdown", "what_a_terminal_should_not_open_is_no_link"),
    "what a terminal keeps of a conversation is bounded": _in(
        "window", "however_much_was_in_sight_what_is_kept_is_bounded"
    ),
}
