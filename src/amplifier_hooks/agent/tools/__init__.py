"""Tools, one file each."""

PUBLIC_MODULES = (
    "bash",
    "delegate",
    "filesystem",
    "live_output",
    "search",
    "todo",
)
