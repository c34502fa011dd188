-- name: kept_after
-- Up to here the log was forgotten.
SELECT kept_after FROM workspace

-- name: entries
-- The log from a position on.
SELECT position, session_id, at, body FROM entries WHERE position > ? ORDER BY position LIMIT ?

-- name: session
-- One conversation, if it is there.
SELECT id, title, parent_id, message_count, prompt_tokens, completion_tokens, estimated_usage, summary_message_id,
    cost, todos, titled_by_person, created_at, updated_at, position
    FROM sessions WHERE id = ? AND standing = 'here'

-- name: sessions
-- The children of one, or those without a parent; most recently changed first.
SELECT id, title, parent_id, message_count, prompt_tokens, completion_tokens, estimated_usage, summary_message_id,
    cost, todos, titled_by_person, created_at, updated_at, position
    FROM sessions WHERE parent_id = ? AND standing = 'here' ORDER BY changed DESC

-- name: all_sessions
-- Every conversation, most recently changed first.
SELECT id, title, parent_id, message_count, prompt_tokens, completion_tokens, estimated_usage, summary_message_id,
    cost, todos, titled_by_person, created_at, updated_at, position
    FROM sessions WHERE standing = 'here' ORDER BY changed DESC

-- name: held
-- Sessions whose line waits for somebody.
SELECT id FROM sessions WHERE gate = 'held' ORDER BY id

-- name: gate
-- Whether a session goes on by itself.
SELECT gate FROM sessions WHERE id = ? AND standing = 'here'

-- name: unsettled
-- Where something waits, works, asks, or was left unfinished.
SELECT id FROM sessions WHERE standing = 'here' AND id IN (
    SELECT session_id FROM runs WHERE state <> 'ended'
    UNION SELECT session_id FROM requests WHERE settled IS NULL
    UNION SELECT session_id FROM messages WHERE role = 'assistant' AND NOT finished
    UNION SELECT id FROM sessions WHERE gate <> 'open'
) ORDER BY id

-- name: message
-- One message, without its parts.
SELECT position, id, session_id, role, model, provider, created_at, updated_at, is_summary, run_id, author
    FROM messages WHERE id = ?

-- name: messages
-- A conversation, without the parts.
SELECT position, id, session_id, role, model, provider, created_at, updated_at, is_summary, run_id, author
    FROM messages WHERE session_id = ? ORDER BY position

-- name: user_messages
-- What people said in a session, newest first.
SELECT position, id, session_id, role, model, provider, created_at, updated_at, is_summary, run_id, author
    FROM messages WHERE session_id = ? AND role = 'user' ORDER BY position DESC

-- name: all_user_messages
-- What people said anywhere, newest first.
SELECT position, id, session_id, role, model, provider, created_at, updated_at, is_summary, run_id, author
    FROM messages WHERE role = 'user' ORDER BY position DESC

-- name: texts
-- What people and models said and a sieve let through, newest first. The database folds plain Latin letters only, so
-- whatever has others in it is let through, for a better eye.
SELECT messages.session_id, messages.id, messages.role, messages.created_at, parts.body
    FROM messages JOIN parts ON parts.message = messages.position
    WHERE messages.role IN ('user', 'assistant') 
        AND (CAST(parts.body AS TEXT) LIKE ? ESCAPE '\' OR CAST(parts.body AS TEXT) GLOB '*[^ -~]*')
    ORDER BY messages.position DESC, parts.place

-- name: spent
-- The runs that ended, with the model that spoke last in each.
SELECT runs.id, runs.session_id, runs.outcome, runs.accepted_at, runs.started_at, runs.ended_at, runs.input_tokens,
    runs.output_tokens, runs.cache_read_tokens, runs.cache_write_tokens, runs.reasoning_tokens, runs.cost,
    runs.estimated, runs.steps, runs.parent, messages.provider, messages.model
    FROM runs LEFT JOIN messages ON messages.id = runs.message_id
    WHERE runs.state = 'ended' AND runs.accepted_at >= ? ORDER BY runs.position

-- name: tools_called
-- How often each tool was called.
SELECT json_extract(CAST(body AS TEXT), '$.tool') AS tool, count(*) FROM effects
    WHERE coalesce(json_extract(CAST(body AS TEXT), '$.at'), 0) >= ? GROUP BY tool ORDER BY tool

-- name: unfinished
-- Answers without an end.
SELECT position, id, session_id, role, model, provider, created_at, updated_at, is_summary, run_id, author
    FROM messages WHERE session_id = ? AND role = 'assistant' AND NOT finished ORDER BY position

-- name: parts
-- Of one message.
SELECT place, body FROM parts WHERE message = ? ORDER BY place

-- name: pieces
-- Of one message.
SELECT place, part, start, body FROM pieces WHERE message = ?

-- name: session_pieces
-- What a session has written behind.
SELECT messages.id, pieces.place, pieces.part, pieces.start, pieces.body
    FROM messages JOIN pieces ON pieces.message = messages.position WHERE messages.session_id = ?
    ORDER BY messages.id, pieces.place, pieces.part, pieces.start

-- name: run
-- One run, whether it has ended or not.
SELECT id, session_id, state, kind, minted, foldable, digest, prompt, options, by, user_message_id, accepted_at,
    started_at, ended_at, outcome, failure, message_id, text, input_tokens, output_tokens, cache_read_tokens,
    cache_write_tokens, reasoning_tokens, cost, estimated, steps, folded_into, parent, denied
    FROM runs WHERE id = ?

-- name: runs
-- Of a session, newest first.
SELECT id, session_id, state, kind, minted, foldable, digest, prompt, options, by, user_message_id, accepted_at,
    started_at, ended_at, outcome, failure, message_id, text, input_tokens, output_tokens, cache_read_tokens,
    cache_write_tokens, reasoning_tokens, cost, estimated, steps, folded_into, parent, denied
    FROM runs WHERE session_id = ? ORDER BY position DESC LIMIT ?

-- name: all_runs
-- Of the workspace, newest first.
SELECT id, session_id, state, kind, minted, foldable, digest, prompt, options, by, user_message_id, accepted_at,
    started_at, ended_at, outcome, failure, message_id, text, input_tokens, output_tokens, cache_read_tokens,
    cache_write_tokens, reasoning_tokens, cost, estimated, steps, folded_into, parent, denied
    FROM runs ORDER BY position DESC LIMIT ?

-- name: line
-- What a session is doing, and what waits in it.
SELECT id, session_id, state, kind, minted, foldable, digest, prompt, options, by, user_message_id, accepted_at,
    started_at, ended_at, outcome, failure, message_id, text, input_tokens, output_tokens, cache_read_tokens,
    cache_write_tokens, reasoning_tokens, cost, estimated, steps, folded_into, parent, denied
    FROM runs WHERE session_id = ? AND state <> 'ended' ORDER BY state = 'queued', line

-- name: all_lines
-- What all sessions are doing, and what waits in them.
SELECT id, session_id, state, kind, minted, foldable, digest, prompt, options, by, user_message_id, accepted_at,
    started_at, ended_at, outcome, failure, message_id, text, input_tokens, output_tokens, cache_read_tokens,
    cache_write_tokens, reasoning_tokens, cost, estimated, steps, folded_into, parent, denied
    FROM runs WHERE state <> 'ended' AND session_id IN (SELECT id FROM sessions WHERE standing = 'here')
    ORDER BY session_id, state = 'queued', line

-- name: request
-- One that still waits for its answer.
SELECT body FROM requests WHERE id = ? AND settled IS NULL

-- name: requests
-- What a session asks.
SELECT body FROM requests WHERE session_id = ? AND settled IS NULL ORDER BY position

-- name: all_requests
-- What all sessions ask.
SELECT body FROM requests WHERE settled IS NULL ORDER BY position

-- name: settled
-- What was asked and is over, newest first.
SELECT body, answer, by, reason, settled_at FROM requests WHERE settled IS NOT NULL ORDER BY settled DESC LIMIT ?

-- name: grants
-- What was allowed once and still holds.
SELECT body FROM grants ORDER BY position

-- name: files
-- Every version a session wrote, in the order it wrote them.
SELECT id, session_id, path, content, version, created_at, updated_at, run_id, absent, form FROM files
    WHERE session_id = ? ORDER BY position

-- name: newest_file
-- The newest version of one file.
SELECT id, session_id, path, content, version, created_at, updated_at, run_id, absent, form FROM files
    WHERE session_id = ? AND path = ? ORDER BY version DESC LIMIT 1

-- name: file_reads
-- What a session saw.
SELECT session_id, path, at, digest, mtime_ns FROM file_reads WHERE session_id = ? ORDER BY path

-- name: file_read
-- What a session saw of one file.
SELECT session_id, path, at, digest, mtime_ns FROM file_reads WHERE session_id = ? AND path = ?

-- name: effects
-- How far a session's tool calls came.
SELECT body FROM effects WHERE session_id = ? ORDER BY position

-- name: effect
-- How far one tool call came.
SELECT body FROM effects WHERE tool_call_id = ? ORDER BY position DESC LIMIT 1

-- name: names
-- Who clients said they were, the newest first.
SELECT client_id, name, kind FROM clients ORDER BY position DESC LIMIT ?
