"""A bundle in, a running session out: mounting, reloading, spawning, saving and resuming."""
