"""Proving that a guard works: events fired through the very command that is installed."""

PUBLIC_MODULES = (
    "check",
    "context",
    "entry",
)
