-- name: first_since
-- The first entry that was written at a time or later.
SELECT min(position) FROM entries WHERE at >= ?

-- name: last_beyond
-- The newest entry with which the log, counted from its end, is larger than it may be.
SELECT max(position) FROM (
    SELECT position, sum(length(body)) OVER (ORDER BY position DESC) AS bytes FROM entries
) WHERE bytes > ?

-- name: free_pages
-- Pages of the file that hold nothing.
PRAGMA freelist_count

-- name: vacuum_some
-- Give a bounded number of them back, so that writers do not wait long.
PRAGMA incremental_vacuum(256)

-- name: checkpoint
-- Bring the write-ahead log into the database, as far as nobody is in the way.
PRAGMA wal_checkpoint(PASSIVE)

-- name: check
-- Whether every page is what it should be, and every index agrees with its table.
PRAGMA integrity_check(20)
