"""The Merkle tree of RFC 6962 over the lines of a log.

It is kept as its frontier: the roots of the complete subtrees, from left to right, one for each 1
in the binary form of the size. So it grows in logarithmic memory, and a saved frontier is enough to
continue a tree whose leaves are gone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

EMPTY_ROOT = hashlib.sha256(b"").digest()
# Begun once and copied: to begin a digest takes longer than to hash a short line. The prefixes keep
# leaves and nodes apart.
LEAF_DIGEST = hashlib.sha256(b"\x00")
NODE_DIGEST = hashlib.sha256(b"\x01")


def hash_leaf(leaf: bytes) -> bytes:
    """The hash of one leaf."""
    digest = LEAF_DIGEST.copy()
    digest.update(leaf)
    return digest.digest()


def hash_node(left: bytes, right: bytes) -> bytes:
    """The hash of an inner node."""
    digest = NODE_DIGEST.copy()
    digest.update(left + right)
    return digest.digest()


class Tree:
    """An append-only tree of which only the frontier is kept."""

    __slots__ = ("_frontier", "size")

    def __init__(self, size: int = 0, frontier: Iterable[bytes] = ()) -> None:
        self.size = size
        self._frontier = list(frontier)
        if size < 0 or len(self._frontier) != size.bit_count():
            raise ValueError(
                f"A tree of {size} leaves has {size.bit_count()} complete subtrees, "
                f"got {len(self._frontier)}"
            )

    @property
    def frontier(self) -> tuple[bytes, ...]:
        """The roots of the complete subtrees, largest first."""
        return tuple(self._frontier)

    def push(self, leaf: bytes) -> None:
        """Add the hash of one more leaf."""
        size, node, frontier = self.size, leaf, self._frontier
        self.size = size + 1
        while size & 1:
            digest = NODE_DIGEST.copy()
            digest.update(frontier.pop() + node)
            node = digest.digest()
            size >>= 1
        frontier.append(node)

    def extend(self, leaves: Iterable[bytes]) -> None:
        """Add the hashes of many leaves: level by level, which takes less time than one by one."""
        nodes, frontier, size = list(leaves), self._frontier, self.size
        self.size = size + len(nodes)
        alone: list[bytes] = []
        while nodes:
            if size & 1:
                nodes.insert(0, frontier.pop())
            if len(nodes) & 1:
                alone.append(nodes.pop())
            left = iter(nodes)
            nodes = list(map(hash_node, left, left))
            size >>= 1
        frontier += reversed(alone)

    def compute_root(self) -> bytes:
        """The root over all leaves so far."""
        return fold(self._frontier)


def fold(frontier: Sequence[bytes]) -> bytes:
    """The root of a frontier."""
    if not frontier:
        return EMPTY_ROOT
    root = frontier[-1]
    for left in reversed(frontier[:-1]):
        root = hash_node(left, root)
    return root
