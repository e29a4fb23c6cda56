"""Checks what surrounds the contents of many lines that follow each other."""

from __future__ import annotations

from collections.abc import Sequence

from amplifier_audit.format.record import RECORD_DIGEST, TAIL
from amplifier_audit.format.tree import LEAF_DIGEST

LINKS = len(',"prev":""') + 64 + TAIL
"""How long the end of a line is that holds the two hashes."""

# Made once, because to make one takes as long as to cut with it.
_COVERED, _LEAF = slice(-TAIL), slice(-1)
# How sequences end behind their thousands, which are the same in many that follow each other: to
# put them together takes half as long as to make them.
_BLOCK = 1000
_FIRST = [b"%d," % number for number in range(_BLOCK)]
_LATER = [b"%03d," % number for number in range(_BLOCK)]


def count_alike(size: int) -> int:
    """How many sequences from `size` on have as many digits, and the same thousands."""
    longer: int = 10 ** len(str(size))
    return min(longer - size, _BLOCK - size % _BLOCK)


def are_in_place(lines: Sequence[bytes], start: bytes, size: int) -> bool:
    """Whether the lines begin with `start` and their sequences, which must be alike."""
    thousands, first = divmod(size, _BLOCK)
    before, ends = (start + b"%d" % thousands, _LATER) if thousands else (start, _FIRST)
    expected = before + before.join(ends[first : first + len(lines)])
    head = slice(len(start) + len(str(size)) + 1)
    # One comparison of all: to compare each would take longer.
    return b"".join([line[head] for line in lines]) == expected


def check_links(lines: Sequence[bytes], before: str) -> tuple[list[bytes], str] | None:
    """The leaves of the lines and the hash of the last; None if a link or a hash is wrong."""
    copy_record, copy_leaf, own = RECORD_DIGEST.copy, LEAF_DIGEST.copy, before
    leaves: list[bytes] = []
    for line in lines:
        record = copy_record()
        record.update(line[_COVERED])
        stated = record.hexdigest()
        if not line.endswith(f',"prev":"{own}","hash":"{stated}"}}\n'.encode()):
            return None
        own = stated
        leaf = copy_leaf()
        leaf.update(line[_LEAF])
        leaves.append(leaf.digest())
    return leaves, own
