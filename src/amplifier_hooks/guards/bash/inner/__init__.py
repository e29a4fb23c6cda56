"""Commands that run other commands, one kind of them a file."""
