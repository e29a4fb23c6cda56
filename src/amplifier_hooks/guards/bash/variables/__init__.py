"""Variables: which commands set them, and what evaluates their text."""
