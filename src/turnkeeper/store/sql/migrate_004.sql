-- Who a client said it was when it did something that is kept, so that it can be named when it has gone.
CREATE TABLE clients (
    client_id TEXT PRIMARY KEY,
    position INTEGER NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX clients_by_position ON clients (position);
