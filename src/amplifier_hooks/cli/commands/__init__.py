"""The commands, one file or folder each."""
