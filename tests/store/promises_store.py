"""What is promised of memory: the log, its views, feeds and recovery, and the tests that prove it.

The original keeps rows and publishes what it did with them; here an event is on disk before anybody is told, and rows
are computed from it. What its tests say of debouncing and of two kinds of delivery is proved of what took their place.
"""

CONTRACT = "tests/store/test_contract.py::test_"
VIEWS = "tests/store/test_views.py::test_"
FAULTS = "tests/store/test_faults.py::test_"
OWNED = "tests/store/test_ownership.py::test_"
UPKEEP = "tests/store/test_upkeep.py::test_"
DAMAGE = "tests/store/test_damage.py::test_"
DRAFT = "tests/engine/test_draft.py::test_"
FEED = "tests/engine/test_feed.py::test_"
RECOVERY = "tests/engine/test_recovery.py::test_"
BAD_DAYS = "tests/engine/test_bad_days.py::test_"
PROCESS = "tests/e2e/test_bad_days.py::test_"
SERVER = "tests/e2e/test_server.py::test_"
BROKER = "tests/broker/test_memory.py::test_"
TIDYING = "tests/house/test_tidying.py::test_"
CANCEL = "tests/engine/turns/test_cancel.py::test_"

SINGLE_FACTS = f"{VIEWS}single_facts_of_a_session_change_without_touching_the_others"
KILLED = f"{BAD_DAYS}a_server_that_is_killed_at_any_instant_loses_nothing_it_acknowledged"
ENDING_HEARD = f"{FEED}an_ending_reaches_one_who_reads_nothing_until_it_is_over"
RESUMED = f"{FEED}one_that_was_cut_goes_on_from_any_entry_without_a_gap_or_a_repetition"
STALLED = f"{BROKER}a_watcher_that_stalls_holds_a_bounded_amount_and_hears_the_newest"
IN_ORDER = f"{CONTRACT}the_events_of_an_append_are_announced_in_the_logs_order_before_it_returns"
BEHIND = f"{DRAFT}what_is_behind_is_bounded_by_its_size_however_long_the_pause"
TOLD_AT_ONCE = f"{DRAFT}what_is_said_in_turns_keeps_its_order_and_everything_that_belongs_to_it"
RESET = f"{VIEWS}a_reset_message_is_empty_and_unfinished_again"
NOT_CONTINUED = f"{VIEWS}a_message_that_has_its_end_is_continued_by_nothing"
SHIELDED = f"{CONTRACT}an_append_is_carried_out_even_if_its_caller_is_cancelled"

PROMISES: dict[str, list[str]] = {
    "agent-core 7.1 TestPersistCanceledTurn_SucceedsWithCanceledContext": [
        SHIELDED,
        f"{CANCEL}a_cancel_takes_no_time_and_leaves_nothing_open",
    ],
    "agent-core 7.1 TestRunCompletePublisher_MustDeliverOverTakesPublish": [ENDING_HEARD],
    "agent-core 7.5 TestEstimatedUsageStateSurvivesFetchModifySave": [SINGLE_FACTS],
    "agent-core 7.5 TestEstimatedUsageStateCanBeClearedByExplicitSave": [SINGLE_FACTS],
    "agent-core 7.6 TestUpdate_DebouncesTextDeltas": [
        BEHIND,
        f"{BROKER}whispers_that_follow_one_another_arrive_as_one",
    ],
    "agent-core 7.6 TestUpdate_TerminalUpdatesFlushSynchronously": [TOLD_AT_ONCE],
    "agent-core 7.6 TestUpdate_ToolCallStructuralChangeFlushes": [TOLD_AT_ONCE],
    "agent-core 7.6 TestUpdate_ReasoningEndFlushes": [TOLD_AT_ONCE],
    "agent-core 7.6 TestFlush_DrainsPendingDebouncedUpdates": [f"{DRAFT}what_could_not_be_told_is_told_with_the_end"],
    "agent-core 7.6 TestFlushAll_DrainsAllPending": [f"{DRAFT}what_could_not_be_told_is_told_with_the_end"],
    "agent-core 7.6 TestUpdate_OrderingMatchesNonCoalesced": [
        f"{FEED}what_is_whispered_adds_up_to_what_is_said_and_can_be_done_without"
    ],
    "agent-core 7.6 TestDelete_DropsPendingState": [
        f"{VIEWS}a_piece_of_a_message_that_is_not_there_is_dropped",
        f"{VIEWS}facts_about_what_is_gone_change_nothing",
    ],
    "agent-core 7.6 TestBroker_PublishLossyDropCounter": [STALLED],
    "agent-core 7.6 TestBroker_PublishMustDeliverHonorsTimeout": [ENDING_HEARD, STALLED],
    "agent-core 7.6 TestBroker_PublishMustDeliverWithReader": [f"{FEED}any_number_of_watchers_hear_the_same"],
    "agent-core 7.6 TestUpdate_TerminalEventUsesMustDeliver": [ENDING_HEARD],
    "agent-core 7.6 TestUpdate_StructuralFlushUsesMustDeliver": [RESUMED],
    "agent-core 7.6 TestUpdate_ZeroDebounceFlushesEveryUpdate": [
        f"{VIEWS}saying_a_part_changes_that_part_and_drops_what_was_written_behind_for_it"
    ],
    "agent-core 7.6 TestFlush_WaitsForInFlightWrite": [SHIELDED],
    "agent-core 7.6 TestFlushAll_WaitsForInFlightWrite": [SHIELDED],
    "agent-core 7.6 TestResetStreamedContent": [RESET],
    "agent-core 7.6 TestResetStreamedContentEmpty": [RESET],
    # What the original does not do well, and we promise.
    "agent-core 8 item 4": [
        f"{RECOVERY}a_server_that_is_told_to_stop_keeps_the_line_for_the_next_start",
        f"{SERVER}a_server_told_to_stop_ends_what_runs_tells_it_and_ends_its_streams_properly",
    ],
    "agent-core 8 item 7": [ENDING_HEARD, RESUMED],
    "agent-core 8 item 8": [
        RESUMED,
        f"{FEED}a_position_older_than_what_is_kept_is_answered_with_everything_as_of_one_position",
        f"{SERVER}what_a_killed_server_left_is_put_right_by_the_next_and_streams_go_on",
    ],
    "agent-core 8 item 13": [KILLED, f"{BAD_DAYS}what_is_acknowledged_is_on_disk_and_not_only_on_its_way"],
    "agent-core 8 item 14": [
        f"{SERVER}a_server_told_to_stop_ends_what_runs_tells_it_and_ends_its_streams_properly",
        f"{SERVER}a_server_that_goes_takes_along_whatever_its_runs_have_started",
    ],
    "agent-core 8 item 15": [
        KILLED,
        f"{RECOVERY}a_crash_after_any_write_loses_nothing_and_leaves_nothing_half_true",
        f"{RECOVERY}a_crash_after_any_write_of_the_recovery_is_recovered_from_too",
    ],
    "agent-core 8 item 16": [SINGLE_FACTS],
    "agent-core 8 item 19": [SINGLE_FACTS],
    "agent-core 8 item 23": [
        f"{VIEWS}messages_are_in_the_order_in_which_they_were_said",
        f"{VIEWS}sessions_are_listed_by_their_last_change_not_by_the_clock",
    ],
    "agent-core 8 item 24": [BEHIND, f"{DRAFT}a_piece_that_was_not_kept_is_part_of_the_next_one"],
    "agent-core 8 item 25": [IN_ORDER, NOT_CONTINUED],
    "agent-core 8 item 26": [f"{VIEWS}file_versions_are_counted_for_each_session_and_path"],
    "agent-core 8 item 27": [f"{RECOVERY}a_deleted_sessions_run_and_its_children_have_ended_before_it_is_gone"],
    # The bad days.
    "a process that is killed at any instant loses nothing it acknowledged": [KILLED],
    "a full or failing disk refuses clearly, and service resumes when the fault ends": [
        f"{PROCESS}a_server_whose_disk_takes_nothing_more_refuses_clearly_and_goes_on_once_it_does",
        f"{BAD_DAYS}a_disk_that_fails_at_any_moment_of_a_run_refuses_clearly_or_is_waited_for",
        f"{FAULTS}an_append_that_fails_at_any_write_leaves_nothing_and_the_next_one_succeeds",
        f"{FAULTS}an_append_that_cannot_read_what_it_rests_on_leaves_nothing_and_the_next_one_succeeds",
        f"{FAULTS}a_read_that_fails_anywhere_is_reported_and_the_next_one_is_answered",
        f"{FAULTS}a_store_whose_disk_is_full_from_the_beginning_says_so_and_opens_once_there_is_room",
    ],
    "a database that a stranger keeps locked is waited for and then reported": [
        f"{FAULTS}a_stranger_who_holds_the_database_is_waited_for_and_then_reported",
        f"{BAD_DAYS}a_stranger_who_holds_the_database_is_named_and_a_run_waits_until_it_lets_go",
    ],
    "of two processes one serves, and a late write of the other is refused": [
        f"{BAD_DAYS}of_two_servers_one_serves_and_one_that_slept_through_its_replacement_writes_nothing",
        f"{OWNED}a_second_server_is_told_where_the_first_is_until_that_one_dies",
        f"{OWNED}a_server_that_woke_up_late_cannot_write_what_another_has_moved_past",
    ],
    "files that are taken away under their server acknowledge nothing more": [
        f"{OWNED}a_database_that_is_taken_away_under_its_server_acknowledges_nothing_more",
        f"{PROCESS}a_server_whose_files_were_taken_away_says_so_and_the_next_begins_anew",
    ],
    "any prefix of the written frames is consistent": [
        f"{DAMAGE}whatever_of_the_write_ahead_log_is_left_after_a_crash_is_a_whole_number_of_appends",
        f"{BAD_DAYS}whatever_of_the_written_frames_survives_a_power_cut_is_recovered_from",
    ],
    "a damaged database is moved aside and never deleted, and whoever asks is told": [
        f"{DAMAGE}a_damaged_database_is_moved_aside_whole_and_a_new_one_begun",
        f"{TIDYING}a_database_that_was_moved_aside_is_told_to_whoever_asks_for_the_state_of_things",
    ],
    "a newer database is read and says so to whoever would write": [
        f"{DAMAGE}a_newer_database_is_read_and_not_written",
        f"{TIDYING}a_database_of_a_newer_version_can_be_read_and_says_so_to_whoever_would_write",
    ],
    "old logs are archived or forgotten by age and size": [
        f"{UPKEEP}entries_expire_by_their_age_and_by_the_size_of_the_log",
        f"{TIDYING}the_log_of_an_open_workspace_is_kept_as_short_as_the_settings_say",
    ],
    "a person can see which command may have run": [
        f"{RECOVERY}a_person_can_see_after_a_crash_which_command_may_have_run",
        "tests/server/test_overview.py::test_how_far_each_tool_call_got_can_be_read_by_a_person",
        "tests/cli/test_looking.py::test_how_far_tool_calls_got_is_told_in_words",
    ],
}
