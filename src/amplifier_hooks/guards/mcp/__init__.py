"""The Model Context Protocol as tools, hooks and the gateway share it: names, frames, results."""

PUBLIC_MODULES = (
    "client_files",
    "definitions",
    "frames",
    "path_guard",
    "protocol",
    "results",
)
