"""The terminal face: a fold of the server's events, drawn; it owns no truth, so any number of them agree."""
