"""The Model Context Protocol: a gateway before servers, and a server of our own."""

PUBLIC_MODULES = (
    "clients",
    "gateway",
    "server",
)
