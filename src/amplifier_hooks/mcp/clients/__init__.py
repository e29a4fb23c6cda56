"""The gateway in the settings of MCP clients: put before their servers, and taken out again."""

PUBLIC_MODULES = (
    "command_line",
    "entries",
    "installation",
    "status",
)
