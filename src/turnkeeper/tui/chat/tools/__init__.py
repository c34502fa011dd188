"""How each tool's use is shown: one renderer a tool, and one for all that nobody wrote one for."""
