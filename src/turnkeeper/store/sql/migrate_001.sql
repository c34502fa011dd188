-- A workspace's log, and the views that every append changes in the same transaction.
-- Order is by position everywhere; times are for people to read.

CREATE TABLE workspace (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    kept_after INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO workspace (one) VALUES (1);

-- The log. `at` is in Unix milliseconds, `body` is the event as JSON.
CREATE TABLE entries (
    position INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    run_id TEXT,
    request_id TEXT,
    at INTEGER NOT NULL,
    body BLOB NOT NULL
) STRICT;

-- A run ends once, and a request is settled once, whatever the code above us believes. (That a run is accepted once and
-- a request asked once is held by the keys of their tables.)
CREATE UNIQUE INDEX one_ending ON entries (run_id) WHERE kind IN ('RunComplete', 'RunFolded');
CREATE UNIQUE INDEX one_settlement ON entries (request_id) WHERE kind IN ('RequestAnswered', 'RequestWithdrawn');

-- A deleted session keeps its row, so that its name is not used again and its log goes on where it ended.
-- The row without a name is the workspace itself.
CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    standing TEXT NOT NULL DEFAULT 'here' CHECK (standing IN ('here', 'deleted', 'workspace')),
    gate TEXT NOT NULL DEFAULT 'open' CHECK (gate IN ('open', 'held', 'closing')),
    title TEXT NOT NULL DEFAULT '',
    parent_id TEXT NOT NULL DEFAULT '',
    message_count INTEGER NOT NULL DEFAULT 0 CHECK (message_count >= 0),
    prompt_tokens INTEGER NOT NULL DEFAULT 0,
    completion_tokens INTEGER NOT NULL DEFAULT 0,
    estimated_usage INTEGER NOT NULL DEFAULT 0,
    summary_message_id TEXT NOT NULL DEFAULT '',
    cost REAL NOT NULL DEFAULT 0.0,
    todos BLOB,
    titled_by_person INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL DEFAULT 0,
    updated_at INTEGER NOT NULL DEFAULT 0,
    position INTEGER NOT NULL DEFAULT 0,
    changed INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO sessions (id, standing) VALUES ('', 'workspace');
CREATE INDEX sessions_by_change ON sessions (parent_id, changed) WHERE standing = 'here';
CREATE INDEX sessions_gated ON sessions (gate) WHERE gate <> 'open';

-- A message is known by its position inside the database, so that its parts and pieces stay small.
CREATE TABLE messages (
    position INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    session_id TEXT NOT NULL,
    role TEXT NOT NULL,
    model TEXT NOT NULL,
    provider TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    is_summary INTEGER NOT NULL,
    run_id TEXT,
    author TEXT NOT NULL,
    finished INTEGER NOT NULL
) STRICT;
CREATE INDEX messages_of_session ON messages (session_id, position);
CREATE INDEX messages_of_user ON messages (position) WHERE role = 'user';
CREATE INDEX messages_unfinished ON messages (session_id, position) WHERE role = 'assistant' AND NOT finished;

CREATE TABLE parts (
    message INTEGER NOT NULL,
    place INTEGER NOT NULL,
    is_finish INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (message, place)
) STRICT;
CREATE INDEX parts_that_finish ON parts (message) WHERE is_finish;

-- What a model has said of a part that is not finished, in the stretches in which it came.
CREATE TABLE pieces (
    message INTEGER NOT NULL,
    place INTEGER NOT NULL,
    part TEXT NOT NULL,
    start INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (message, place, part, start)
) STRICT, WITHOUT ROWID;

CREATE TABLE runs (
    position INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    line INTEGER NOT NULL,
    session_id TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('queued', 'active', 'stopping', 'ended')),
    kind TEXT NOT NULL,
    minted INTEGER NOT NULL,
    foldable INTEGER NOT NULL,
    digest TEXT NOT NULL,
    prompt BLOB NOT NULL,
    options BLOB NOT NULL,
    by TEXT NOT NULL,
    user_message_id TEXT NOT NULL,
    accepted_at INTEGER NOT NULL,
    started_at INTEGER NOT NULL DEFAULT 0,
    ended_at INTEGER NOT NULL DEFAULT 0,
    outcome TEXT,
    failure BLOB,
    message_id TEXT NOT NULL DEFAULT '',
    text TEXT NOT NULL DEFAULT '',
    input_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    cache_read_tokens INTEGER NOT NULL DEFAULT 0,
    cache_write_tokens INTEGER NOT NULL DEFAULT 0,
    reasoning_tokens INTEGER NOT NULL DEFAULT 0,
    cost REAL NOT NULL DEFAULT 0.0,
    estimated INTEGER NOT NULL DEFAULT 0,
    steps INTEGER NOT NULL DEFAULT 0,
    folded_into TEXT,
    parent TEXT
) STRICT;
CREATE INDEX runs_of_session ON runs (session_id, position);
CREATE INDEX runs_in_line ON runs (session_id, line) WHERE state <> 'ended';
-- At most one run of a session is at work.
CREATE UNIQUE INDEX one_active ON runs (session_id) WHERE state IN ('active', 'stopping');

CREATE TABLE requests (
    id TEXT PRIMARY KEY,
    position INTEGER NOT NULL,
    session_id TEXT NOT NULL,
    body BLOB NOT NULL,
    settled INTEGER,
    answer BLOB,
    by TEXT NOT NULL DEFAULT '',
    reason TEXT NOT NULL DEFAULT '',
    settled_at INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX requests_pending ON requests (session_id, position) WHERE settled IS NULL;
CREATE INDEX requests_settled ON requests (settled) WHERE settled IS NOT NULL;

CREATE TABLE files (
    position INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    path TEXT NOT NULL,
    version INTEGER NOT NULL,
    content TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    run_id TEXT,
    UNIQUE (session_id, path, version)
) STRICT;

CREATE TABLE file_reads (
    session_id TEXT NOT NULL,
    path TEXT NOT NULL,
    at INTEGER NOT NULL,
    digest TEXT NOT NULL,
    mtime_ns INTEGER NOT NULL,
    PRIMARY KEY (session_id, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE grants (
    id TEXT PRIMARY KEY,
    position INTEGER NOT NULL,
    session_id TEXT NOT NULL,
    body BLOB NOT NULL
) STRICT;

CREATE TABLE effects (
    session_id TEXT NOT NULL,
    tool_call_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (session_id, tool_call_id)
) STRICT;
CREATE INDEX effects_of_call ON effects (tool_call_id, position);
