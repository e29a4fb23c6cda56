"""The command that coding agents call: next to nothing, and quick."""
