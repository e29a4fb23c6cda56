"""Writing a log."""
