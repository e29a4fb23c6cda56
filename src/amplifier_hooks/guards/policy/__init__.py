"""Shared by guards: paths, guarded globs, patterns, the shapes of secrets, editing tools."""

PUBLIC_MODULES = (
    "agent_programs",
    "database_use",
    "paths",
    "patterns",
    "profile",
    "protected_place_table",
    "protected_places",
    "secrets",
    "tool_calls",
    "unread_tools",
    "walls",
)
