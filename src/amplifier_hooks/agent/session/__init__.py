"""From a bundle to a running session: mounting, reloading, spawning, saving and resuming."""

PUBLIC_MODULES = (
    "assembled",
    "assembly",
    "inspection",
    "open_calls",
    "origin",
    "reload",
    "remote_approval",
    "saved_sessions",
    "trail",
    "watched_files",
)
