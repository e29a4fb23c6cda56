"""Hostile text made visible: what the terminal shows, reports show in the same way."""

from amplifier_hooks.text.escape import (
    ESCAPED,
    TAB,
    escape,
    get_first_line,
    make_readable,
    unescape,
)

__all__ = [
    "ESCAPED",
    "TAB",
    "escape",
    "get_first_line",
    "make_readable",
    "unescape",
]
