"""Hands: what a model may do in a workspace."""
