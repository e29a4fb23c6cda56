"""Reading and verifying a log."""
