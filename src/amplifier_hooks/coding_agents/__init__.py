"""Hooks in front of agents that are not ours: coding agents that call a command at their events."""

PUBLIC_MODULES = (
    "daemon",
    "dialects",
    "installing",
    "known",
    "protection",
    "self_test",
    "sessions",
    "shell_hooks",
)
