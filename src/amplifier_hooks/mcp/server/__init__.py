"""Our own MCP server: an agent asks what it may do, what waits and what happened. It only reads."""

PUBLIC_MODULES = (
    "server",
    "toolbox",
    "trails",
)
