"""A replay in a process of its own, which can write and send nothing."""
