"""Memory: what survives a crash."""
