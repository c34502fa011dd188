"""The command line: each command reads its arguments, asks the client, and prints."""
