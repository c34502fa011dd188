"""Voices: every way to ask a language model."""
