"""What is seen of a run: live, as plain lines, or as JSON."""
