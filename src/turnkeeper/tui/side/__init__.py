"""Around the conversation: where one lands, the side, the line that waits, the status, the banner."""
