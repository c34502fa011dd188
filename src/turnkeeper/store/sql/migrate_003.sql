-- A run's ending says what it was not allowed to do.
ALTER TABLE runs ADD COLUMN denied BLOB;
