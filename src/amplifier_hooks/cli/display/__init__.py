"""Displays of a run: live, as plain lines, or as JSON."""
