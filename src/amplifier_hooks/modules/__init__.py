"""Shared by our modules: options, registrations, event patterns, extras, ids of calls."""

PUBLIC_MODULES = (
    "clock",
    "conversation",
    "installation",
    "observers",
    "options",
    "recommendations",
    "registration",
)
