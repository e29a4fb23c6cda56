"""The look of each kind of text: one table of styles for all libraries that draw.

A style is written as rich reads it: attributes, then a colour.
"""

from __future__ import annotations

STYLES = {
    "good": "green",
    "bad": "red",
    "warn": "yellow",
    "note": "cyan",
    "dim": "bright_black",
    "title": "bold",
    "tool": "bold cyan",
    "target": "bold",
    "key": "cyan",
    "escape": "reverse magenta",
    "gutter": "bright_black",
    # A change to a file
    "add": "green",
    "del": "red",
    "hunk": "cyan",
    # A shell command
    "program": "bold green",
    "operator": "bold yellow",
    "string": "cyan",
    # A question
    "rule": "yellow",
    "question": "bold yellow",
    "time": "yellow",
    "urgent": "bold red",
    "prompt": "bold",
    "label": "bright_black",
    "comment": "italic",
    "cursor": "reverse",
    "allow": "bold green",
    "refuse": "bold red",
}

_ANSI = {
    "bold": "1",
    "italic": "3",
    "reverse": "7",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "magenta": "35",
    "cyan": "36",
    "bright_black": "90",
}
_ATTRIBUTES = frozenset({"bold", "italic", "reverse"})


def to_ansi(style: str) -> str:
    """The codes of a style for a terminal; none for a style that is not in the table."""
    return ";".join(_ANSI[word] for word in STYLES.get(style, "").split())


def to_prompt_toolkit(style: str) -> str:
    """A style as prompt_toolkit reads it."""
    words = STYLES.get(style, "").split()
    return " ".join(
        word if word in _ATTRIBUTES else f"ansi{word.replace('_', '')}" for word in words
    )
