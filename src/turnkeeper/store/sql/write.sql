-- name: head
-- Where the log ends, even when all of it was forgotten.
SELECT max((SELECT ifnull(max(position), 0) FROM entries), (SELECT kept_after FROM workspace))

-- name: ends
-- Where the log ends and where a session's part of it, and whether the session is there: one row, whatever there is.
SELECT max(ifnull((SELECT max(position) FROM entries), 0), kept_after), sessions.position, standing
    FROM workspace LEFT JOIN sessions ON sessions.id = ?

-- name: add_entry
-- The log grows at its end only.
INSERT INTO entries (position, session_id, kind, run_id, request_id, at, body) VALUES (?, ?, ?, ?, ?, ?, ?)

-- name: move_session
-- The session's log ends here now.
UPDATE sessions SET position = ? WHERE id = ?

-- name: touch_session
-- The session's log ends here now, and the session was changed.
UPDATE sessions SET position = ?, changed = ?, updated_at = ? WHERE id = ?

-- name: add_session
-- A new conversation.
INSERT INTO sessions (id, title, parent_id, created_at) VALUES (?, ?, ?, ?)

-- name: bury_session
-- The name and the place in the log stay; what was said goes.
UPDATE sessions SET standing = 'deleted', gate = 'open', title = '', todos = NULL, parent_id = '' WHERE id = ?

-- name: drop_session_pieces
-- With their session.
DELETE FROM pieces WHERE message IN (SELECT position FROM messages WHERE session_id = ?)

-- name: drop_session_parts
-- With their session.
DELETE FROM parts WHERE message IN (SELECT position FROM messages WHERE session_id = ?)

-- name: drop_session_messages
-- With their session.
DELETE FROM messages WHERE session_id = ?

-- name: drop_session_files
-- With their session.
DELETE FROM files WHERE session_id = ?

-- name: drop_session_reads
-- With their session.
DELETE FROM file_reads WHERE session_id = ?

-- name: drop_session_effects
-- With their session.
DELETE FROM effects WHERE session_id = ?

-- name: drop_session_requests
-- With their session; what was settled is kept for the audit.
DELETE FROM requests WHERE session_id = ? AND settled IS NULL

-- name: drop_session_grants
-- What was granted for a session only.
DELETE FROM grants WHERE session_id = ?

-- name: bare_session_runs
-- That a run was, and how it ended, outlives its session; what was said in it does not.
UPDATE runs SET prompt = ?, text = '' WHERE session_id = ?

-- name: set_gate
-- Whether the session goes on by itself.
UPDATE sessions SET gate = ? WHERE id = ?

-- name: set_title
-- A name, and whether a person gave it: a person's is replaced by a person's alone, whoever comes later.
UPDATE sessions SET title = ?1, titled_by_person = ?2 WHERE id = ?3 AND (?2 OR NOT titled_by_person)

-- name: set_todos
-- The list as a whole.
UPDATE sessions SET todos = ? WHERE id = ?

-- name: set_summary
-- Where the model begins to read.
UPDATE sessions SET summary_message_id = ? WHERE id = ?

-- name: count_session_usage
-- Money adds up; context sizes replace what was known, when they are known.
UPDATE sessions SET cost = cost + ?, estimated_usage = ?, prompt_tokens = ifnull(?, prompt_tokens),
    completion_tokens = ifnull(?, completion_tokens) WHERE id = ?

-- name: count_run_usage
-- What one question cost its run.
UPDATE runs SET input_tokens = input_tokens + ?, output_tokens = output_tokens + ?,
    cache_read_tokens = cache_read_tokens + ?, cache_write_tokens = cache_write_tokens + ?,
    reasoning_tokens = reasoning_tokens + ?, cost = cost + ?, estimated = max(estimated, ?) WHERE id = ?

-- name: set_run_usage
-- What the run says it cost altogether.
UPDATE runs SET input_tokens = ?, output_tokens = ?, cache_read_tokens = ?, cache_write_tokens = ?,
    reasoning_tokens = ?, cost = ?, estimated = ? WHERE id = ?

-- name: add_run
-- An accepted run stands last in its session's line.
INSERT INTO runs (id, position, line, session_id, state, kind, minted, foldable, digest, prompt, options, by,
    user_message_id, accepted_at, parent) VALUES (?, ?, ?, ?, 'queued', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: start_run
-- Out of the line, to work.
UPDATE runs SET state = 'active', started_at = ? WHERE id = ? AND state <> 'ended'

-- name: stop_run
-- Somebody asked it to end.
UPDATE runs SET state = 'stopping' WHERE id = ? AND state <> 'ended'

-- name: fold_run
-- Its prompt is part of another run now.
UPDATE runs SET state = 'ended', outcome = 'folded', ended_at = ?, folded_into = ? WHERE id = ? AND state <> 'ended'

-- name: end_run
-- Once.
UPDATE runs SET state = 'ended', ended_at = ?, outcome = ?, failure = ?, text = ?, message_id = ?, steps = ?,
    denied = ? WHERE id = ? AND state <> 'ended'

-- name: run_state
-- How far a run has come.
SELECT state FROM runs WHERE id = ?

-- name: set_prompt
-- Only while it waits.
UPDATE runs SET prompt = ? WHERE id = ? AND state = 'queued'

-- name: set_foldable
-- Only while it waits.
UPDATE runs SET foldable = ? WHERE id = ? AND state = 'queued'

-- name: waiting
-- A session's line, with the places in it.
SELECT id, line FROM runs WHERE session_id = ? AND state = 'queued' ORDER BY line

-- name: set_line
-- Another place in the line.
UPDATE runs SET line = ? WHERE id = ?

-- name: add_request
-- Asked, and not answered yet.
INSERT INTO requests (id, position, session_id, body) VALUES (?, ?, ?, ?)

-- name: settle_request
-- Once.
UPDATE requests SET settled = ?, answer = ?, by = ?, reason = ?, settled_at = ? WHERE id = ? AND settled IS NULL

-- name: add_message
-- At the end of its conversation.
INSERT INTO messages (position, id, session_id, role, model, provider, created_at, updated_at, is_summary, run_id,
    author, finished) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: count_messages
-- One more, or one less.
UPDATE sessions SET message_count = message_count + ? WHERE id = ?

-- name: find_message
-- By its name: its place, and whose it is.
SELECT position, session_id FROM messages WHERE id = ?

-- name: put_part
-- One part is now this, and the others are as they were.
INSERT INTO parts (message, place, is_finish, body) VALUES (?, ?, ?, ?)
    ON CONFLICT (message, place) DO UPDATE SET is_finish = excluded.is_finish, body = excluded.body

-- name: touch_message
-- A part of it changed.
UPDATE messages SET updated_at = ?, finished = EXISTS (SELECT 1 FROM parts WHERE message = position AND is_finish)
    WHERE position = ?

-- name: drop_part_pieces
-- The part was said.
DELETE FROM pieces WHERE message = ? AND place = ?

-- name: drop_parts
-- The message is empty again, or gone.
DELETE FROM parts WHERE message = ?

-- name: drop_pieces
-- The message has its end, is empty again, or gone.
DELETE FROM pieces WHERE message = ?

-- name: drop_message
-- Its parts and pieces go before it.
DELETE FROM messages WHERE position = ?

-- name: add_piece
-- Only to a message that is there and has no end; saying a stretch twice is saying it once.
INSERT INTO pieces (message, place, part, start, body)
    SELECT position, ?, ?, ?, ? FROM messages WHERE id = ? AND NOT finished
    ON CONFLICT (message, place, part, start) DO UPDATE SET body = excluded.body

-- name: add_file
-- A file's content at one moment.
INSERT INTO files (position, id, session_id, path, version, content, created_at, updated_at, run_id, absent, form)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: put_read
-- What the session last saw of the file.
INSERT INTO file_reads (session_id, path, at, digest, mtime_ns) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (session_id, path) DO UPDATE SET at = excluded.at, digest = excluded.digest,
    mtime_ns = excluded.mtime_ns

-- name: put_grant
-- Given; giving it again replaces it.
INSERT INTO grants (id, position, session_id, body) VALUES (?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET position = excluded.position, session_id = excluded.session_id,
    body = excluded.body

-- name: drop_grant
-- Revoked.
DELETE FROM grants WHERE id = ?

-- name: put_effect
-- How far a tool call has come.
INSERT INTO effects (session_id, tool_call_id, position, body) VALUES (?, ?, ?, ?)
    ON CONFLICT (session_id, tool_call_id) DO UPDATE SET position = excluded.position, body = excluded.body

-- name: prune
-- Entries before a position are forgotten; the views stay.
DELETE FROM entries WHERE position < ?

-- name: last_before
-- The last entry that a prune would forget.
SELECT max(position) FROM entries WHERE position < ?

-- name: set_kept_after
-- Up to here the log was forgotten.
UPDATE workspace SET kept_after = ?

-- name: put_name
-- A client said who it is; saying it again replaces it.
INSERT INTO clients (client_id, position, name, kind) VALUES (?, ?, ?, ?)
    ON CONFLICT (client_id) DO UPDATE SET position = excluded.position, name = excluded.name, kind = excluded.kind
