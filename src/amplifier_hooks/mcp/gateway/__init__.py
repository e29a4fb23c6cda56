"""A relay between an MCP client and a server, with hooks in front of what they ask for."""

PUBLIC_MODULES = (
    "channel",
    "gateway",
    "http",
    "pipes",
)
