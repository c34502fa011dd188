"""The conversation: what was said and done in a session, drawn as it happens."""
