"""From a bundle to a running session: mounting, reloading, spawning, saving and resuming."""
