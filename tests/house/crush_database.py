"""A database as the original makes it: its schema after all its migrations, and a little of what it may hold."""

import json
import sqlite3
from pathlib import Path
from typing import Any

SCHEMA = """
CREATE TABLE goose_db_version (id INTEGER PRIMARY KEY AUTOINCREMENT, version_id INTEGER NOT NULL,
    is_applied INTEGER NOT NULL, tstamp TIMESTAMP DEFAULT (datetime('now')));
CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT NOT NULL,
    message_count INTEGER NOT NULL DEFAULT 0 CHECK (message_count >= 0),
    prompt_tokens INTEGER NOT NULL DEFAULT 0 CHECK (prompt_tokens >= 0),
    completion_tokens INTEGER NOT NULL DEFAULT 0 CHECK (completion_tokens >= 0),
    cost REAL NOT NULL DEFAULT 0.0 CHECK (cost >= 0.0),
    updated_at INTEGER NOT NULL, created_at INTEGER NOT NULL, summary_message_id TEXT, todos TEXT);
CREATE INDEX idx_sessions_created_at ON sessions (created_at);
CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, role TEXT NOT NULL,
    parts TEXT NOT NULL DEFAULT '[]', model TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
    finished_at INTEGER, provider TEXT, is_summary_message INTEGER DEFAULT 0 NOT NULL,
    FOREIGN KEY (session_id) REFERENCES sessions (id) ON DELETE CASCADE);
CREATE INDEX idx_messages_session_id ON messages (session_id);
CREATE INDEX idx_messages_created_at ON messages (created_at);
CREATE TABLE files (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, path TEXT NOT NULL, content TEXT NOT NULL,
    version INTEGER NOT NULL DEFAULT 0, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
    FOREIGN KEY (session_id) REFERENCES sessions (id) ON DELETE CASCADE, UNIQUE (path, session_id, version));
CREATE INDEX idx_files_session_id ON files (session_id);
CREATE INDEX idx_files_path ON files (path);
CREATE INDEX idx_files_created_at ON files (created_at);
CREATE TABLE read_files (session_id TEXT NOT NULL CHECK (session_id != ''), path TEXT NOT NULL CHECK (path != ''),
    read_at INTEGER NOT NULL, FOREIGN KEY (session_id) REFERENCES sessions (id) ON DELETE CASCADE,
    PRIMARY KEY (path, session_id));
CREATE TRIGGER update_sessions_updated_at AFTER UPDATE ON sessions BEGIN
    UPDATE sessions SET updated_at = strftime('%s', 'now') WHERE id = new.id; END;
CREATE TRIGGER update_session_message_count_on_insert AFTER INSERT ON messages BEGIN
    UPDATE sessions SET message_count = message_count + 1 WHERE id = new.session_id; END;
CREATE TRIGGER update_session_message_count_on_delete AFTER DELETE ON messages BEGIN
    UPDATE sessions SET message_count = message_count - 1 WHERE id = old.session_id; END;
"""

AT = 1_750_000_000
FIRST, CHILD, LATER = "6f5c0c1e-0000-4000-8000-000000000001", "m2$$call_1", "6f5c0c1e-0000-4000-8000-000000000002"


def part(kind: str, **data: Any) -> dict[str, Any]:
    return {"type": kind, "data": data}


MESSAGES: dict[str, list[tuple[str, str, list[dict[str, Any]], str]]] = {
    FIRST: [
        (
            "m1",
            "user",
            [
                part("text", text="What is in here?"),
                part("binary", Path="/p/a.png", MIMEType="image/png", Data="iVBORw0KGgo="),
                part("finish", reason="stop", time=0),
            ],
            "",
        ),
        (
            "m2",
            "assistant",
            [
                part("reasoning", thinking="hm", signature="sig", started_at=AT, finished_at=AT + 1),
                part("text", text="Let me look."),
                part(
                    "tool_call", id="call_1", name="ls", input='{"path": "."}', provider_executed=False, finished=True
                ),
                part("finish", reason="tool_use", time=AT + 2),
            ],
            "gpt-x",
        ),
        (
            "m3",
            "tool",
            [
                part(
                    "tool_result",
                    tool_call_id="call_1",
                    name="ls",
                    content="a.go",
                    data="",
                    mime_type="",
                    metadata="{}",
                    is_error=False,
                )
            ],
            "",
        ),
        ("m4", "assistant", [part("text", text="One file: a.go"), part("hologram", light=1)], "gpt-x"),
    ],
    CHILD: [("c1", "user", [part("text", text="a child was here")], "")],
    LATER: [("l1", "user", [part("shell_command", command="ls", output="a.go\n", exit_code=0)], "")],
}


def write(path: Path) -> Path:
    """The database, with three conversations: one with a past, its sub-agent's, and one that is later."""
    path.parent.mkdir(parents=True, exist_ok=True)
    db = sqlite3.connect(path)
    db.executescript("PRAGMA journal_mode = WAL;" + SCHEMA)
    todos = json.dumps([{"content": "look", "status": "completed", "active_form": "Looking"}])
    for id, parent, title, spent, changed, todo in (
        (FIRST, None, "Looking around", (120, 30, 0.25), AT + 10, todos),
        (CHILD, FIRST, "A sub-agent", (1, 1, 0.0), AT + 50, None),
        (LATER, None, "Later", (0, 0, 0.0), AT + 100, None),
    ):
        db.execute(
            "INSERT INTO sessions (id, parent_session_id, title, prompt_tokens, completion_tokens, cost, updated_at,"
            " created_at, todos) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (id, parent, title, *spent, changed, AT, todo),
        )
        for number, (message, role, parts, model) in enumerate(MESSAGES[id]):
            db.execute(
                "INSERT INTO messages (id, session_id, role, parts, model, created_at, updated_at, provider)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    message,
                    id,
                    role,
                    json.dumps(parts),
                    model,
                    AT + number // 2,
                    AT + number,
                    "openai" if model else None,
                ),
            )
        db.execute("UPDATE sessions SET updated_at = ? WHERE id = ?", (changed, id))
    # The trigger has just said "now" again; the original's own rows carry such times too, ours are to be known.
    db.executescript("DROP TRIGGER update_sessions_updated_at")
    for id, changed in ((FIRST, AT + 10), (CHILD, AT + 50), (LATER, AT + 100)):
        db.execute("UPDATE sessions SET updated_at = ? WHERE id = ?", (changed, id))
    for number, content in enumerate(("old", "old", "new")):
        db.execute(
            "INSERT INTO files VALUES (?, ?, '/p/a.go', ?, ?, ?, ?)", (f"f{number}", FIRST, content, 7 + number, AT, AT)
        )
    db.execute("INSERT INTO read_files VALUES (?, '/p/a.go', ?)", (FIRST, AT + 1))
    db.commit()
    db.close()
    return path
