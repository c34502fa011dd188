"""Reach: how a program talks to a server, and keeps up with it."""
