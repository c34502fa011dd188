"""Decisions: pure functions over the words of the protocol; no time, no IO, no randomness."""
