"""From the records of trails to figures, in one pass."""
