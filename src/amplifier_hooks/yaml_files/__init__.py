"""YAML files whose values know the line they stand in."""

PUBLIC_MODULES = (
    "checking",
    "node",
    "reader",
)
