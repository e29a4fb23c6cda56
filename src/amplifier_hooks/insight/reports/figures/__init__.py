"""What a report is made of: figures and excerpts of sessions, gathered from their trails."""
