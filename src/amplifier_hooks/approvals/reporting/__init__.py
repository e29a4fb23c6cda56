"""What a session reports to people elsewhere: its records, its state, its calls."""
