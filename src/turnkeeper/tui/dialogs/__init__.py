"""Dialogs: what stands over the conversation for a moment, and goes when its matter is settled."""
