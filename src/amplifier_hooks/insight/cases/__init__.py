"""Cases: events that are sent to hooks, and what the hooks should answer."""

PUBLIC_MODULES = (
    "case",
    "comparison",
    "files",
    "running",
    "schema",
)
