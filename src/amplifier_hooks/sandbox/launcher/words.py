"""What the agent, the launcher and its cells say to one another; the first byte of a message."""

from __future__ import annotations

WALLED, PLAIN = b"w", b"p"  # to the launcher: a cell for commands behind a wall, or without one
RUN, TERMINATE, KILL = b"R", b"T", b"K"  # to a cell
LONGEST = 32_768  # bytes of an order that are sent in the message itself
FAILED, ENDED, GONE = b"F", b"S", b"G"  # from a cell: not started; ended; and nothing is left
