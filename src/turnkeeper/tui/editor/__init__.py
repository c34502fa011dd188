"""Where prompts are written: the editor, what completes it, and what is kept of it."""
