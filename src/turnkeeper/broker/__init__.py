"""Bells and whispers: who is woken when something became true."""
