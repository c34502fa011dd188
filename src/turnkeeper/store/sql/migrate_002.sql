-- Whether there was a file at all: an empty file and none are told apart, so that undoing a creation removes it again.
ALTER TABLE files ADD COLUMN absent INTEGER NOT NULL DEFAULT 0;
