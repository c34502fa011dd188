-- How a file was kept on disk beside its text, so that what is taken back comes back with its encoding and its mode.
ALTER TABLE files ADD COLUMN form TEXT NOT NULL DEFAULT '';
