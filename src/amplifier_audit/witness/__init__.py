"""A witness: a server elsewhere that keeps the checkpoints of a log and refuses contradictions."""
