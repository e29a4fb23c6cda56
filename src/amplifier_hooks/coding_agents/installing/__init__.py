"""Putting the guard into the settings of coding agents, and taking it out again."""

PUBLIC_MODULES = (
    "agents",
    "bundle_state",
    "guard",
    "installation",
    "json_edit",
    "places",
    "record",
    "settings_file",
    "status",
)
