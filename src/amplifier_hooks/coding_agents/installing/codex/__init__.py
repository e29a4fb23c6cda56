"""Codex, which runs only the hooks that it has been told to trust."""
