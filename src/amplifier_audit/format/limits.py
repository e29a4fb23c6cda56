"""How much of a value goes into a record."""

from __future__ import annotations

from dataclasses import dataclass

SAFE_INTEGER = 2**53
RECORD_LIMIT = 64 * 1024
# The rest of the 64 KiB is for the other members of the line: 512 bytes are enough for those whose
# length is known, and these are for those that a caller gives.
BODY_LIMIT = RECORD_LIMIT - 4096
SOURCE_LIMIT = 4096 - 512
KEY_LIMIT = 256


@dataclass(frozen=True, slots=True)
class Limits:
    """What is longer, wider or deeper is cut."""

    text: int
    members: int
    depth: int
    nodes: int


WIDE = Limits(text=8192, members=256, depth=16, nodes=2000)
NARROW = Limits(text=256, members=32, depth=8, nodes=150)
