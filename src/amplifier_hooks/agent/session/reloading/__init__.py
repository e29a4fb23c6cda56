"""The parts of a reload: what changed, who changed it, and what takes its place."""
