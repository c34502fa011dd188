"""The door: HTTP and server-sent events."""
