-- What is asked of the original's database. Its times are Unix seconds.

-- name: sessions
-- All conversations, the least recently changed first; one with a parent after its parent.
SELECT id FROM sessions ORDER BY parent_session_id IS NOT NULL, updated_at, rowid

-- name: session
-- One conversation.
SELECT id, parent_session_id, title, prompt_tokens, completion_tokens, cost, updated_at, created_at,
    summary_message_id, todos
    FROM sessions WHERE id = ?

-- name: messages
-- What was said in it. Two of the same second come in the order in which they were written.
SELECT id, session_id, role, parts, model, created_at, updated_at, provider, is_summary_message
    FROM messages WHERE session_id = ? ORDER BY created_at, rowid

-- name: files
-- What it made of files, in order.
SELECT id, session_id, path, content, created_at, updated_at FROM files
    WHERE session_id = ? ORDER BY path, version, rowid

-- name: reads
-- What it read.
SELECT path, read_at FROM read_files WHERE session_id = ?
