"""One file a group of routes; each parses, asks the engine, and answers."""
