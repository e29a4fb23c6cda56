"""Hook modules, one file each."""

PUBLIC_MODULES = (
    "backup",
    "bash",
    "command_guard",
    "cost_control",
    "mcp",
    "model_judge",
    "policy",
    "redaction",
    "rules",
    "self_protection",
)
