"""Configuration: files, precedence, expansion, and every knob with its default."""
