"""Loops that drive a turn, one file each."""

PUBLIC_MODULES = (
    "model_call",
    "streaming",
)
