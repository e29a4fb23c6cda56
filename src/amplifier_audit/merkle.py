"""The Merkle tree of RFC 6962 over the lines of a log, and proofs of inclusion and consistency.

A tree is kept as its frontier: the roots of the complete subtrees, from left to right, one for each
1 in the binary form of the size. So it grows in logarithmic memory, and a saved frontier is enough
to continue a tree whose leaves are gone. A proof is a list of roots of ranges of leaves. Which
ranges these are follows from the numbers alone, so the prover first lists them and then adds up the
leaves as they stream by.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence

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
        size = self.size
        node = leaf
        frontier = self._frontier
        self.size = size + 1
        while size & 1:
            digest = NODE_DIGEST.copy()
            digest.update(frontier.pop() + node)
            node = digest.digest()
            size >>= 1
        frontier.append(node)

    def extend(self, leaves: Iterable[bytes]) -> None:
        """Add the hashes of many leaves: level by level, which takes less time than one by one."""
        nodes = list(leaves)
        frontier = self._frontier
        size = self.size
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


Range = tuple[int, int]


def list_inclusion_ranges(index: int, size: int) -> list[Range]:
    """The ranges whose roots prove that leaf `index` is in a tree of `size` leaves."""
    if not 0 <= index < size:
        raise ValueError(f"Record {index} is not among the first {size}")
    return _list_siblings(index, 0, size)


def list_subtrees(size: int) -> list[Range]:
    """The complete subtrees of a tree of that size, as ranges, largest first."""
    ranges: list[Range] = []
    low = 0
    for bit in reversed(range(size.bit_length())):
        if size >> bit & 1:
            ranges.append((low, low + (1 << bit)))
            low += 1 << bit
    return ranges


def compute_inclusion_root(
    index: int, size: int, leaf: bytes, proof: Sequence[bytes]
) -> bytes | None:
    """The root that the proof leads to from a leaf's hash; None if it cannot be one."""
    if not 0 <= index < size:
        return None
    here = index
    last = size - 1
    root = leaf
    for sibling in proof:
        if last == 0:
            return None
        if here & 1 or here == last:
            root = hash_node(sibling, root)
            while here and not here & 1:
                here = here >> 1
                last = last >> 1
        else:
            root = hash_node(root, sibling)
        here = here >> 1
        last = last >> 1
    return root if last == 0 else None


def list_consistency_ranges(old: int, new: int) -> list[Range]:
    """The ranges whose roots prove that a tree of `new` leaves continues one of `old` leaves."""
    if not 0 < old <= new:
        raise ValueError(f"A tree of {new} leaves does not continue one of {old}")
    return _list_continuing(old, 0, new, whole=True)


def verify_consistency(
    old: int, old_root: bytes, new: int, new_root: bytes, proof: Sequence[bytes]
) -> bool:
    """Whether the proof shows that the second tree continues the first."""
    if not 0 < old <= new:
        return False
    ranges = list_consistency_ranges(old, new)
    if len(proof) != len(ranges) or any(len(one) != len(old_root) for one in proof):
        return False
    roots = dict(zip(ranges, proof, strict=True))
    if old == new or not old & (old - 1):
        # The proof leaves out a part that the verifier has: all of the old tree.
        roots[0, old] = old_root
    return _fold_range(0, old, roots) == old_root and _fold_range(0, new, roots) == new_root


class RangeRoots:
    """Adds up streaming leaf hashes into the roots of the given ranges.

    Leaves before `start` are known only through the frontier of the tree at that size.
    """

    def __init__(
        self, ranges: Sequence[Range], start: int = 0, frontier: Iterable[bytes] = ()
    ) -> None:
        known = dict(zip(list_subtrees(start), frontier, strict=True))
        self._next = start
        self._sums = [(low, high, _seed_tree(low, min(high, start), known)) for low, high in ranges]

    def push(self, leaf: bytes) -> None:
        """Add the hash of the next leaf."""
        index = self._next
        self._next += 1
        for low, high, tree in self._sums:
            if low <= index < high:
                tree.push(leaf)

    def compute_roots(self) -> list[bytes]:
        """One root per range, in the order of the ranges."""
        return [tree.compute_root() for _, _, tree in self._sums]


def _seed_tree(low: int, high: int, known: Mapping[Range, bytes]) -> Tree:
    """A tree that already holds the leaves from `low` up to `high`."""
    if high <= low:
        return Tree()
    inside = [(r, root) for r, root in known.items() if low <= r[0] and r[1] <= high]
    if sum(r[1] - r[0] for r, _ in inside) != high - low:
        raise ValueError(f"Records {low} to {high - 1} are needed for this proof and not there")
    return Tree(high - low, [root for _, root in inside])


def _list_continuing(old: int, low: int, high: int, *, whole: bool) -> list[Range]:
    """The proof of RFC 6962 within the leaves from `low` to `high`, of which `old` were there."""
    if old == high - low:
        return [] if whole else [(low, high)]
    middle = _split(low, high)
    if old <= middle - low:
        return [*_list_continuing(old, low, middle, whole=whole), (middle, high)]
    left = old - (middle - low)
    return [*_list_continuing(left, middle, high, whole=False), (low, middle)]


def _fold_range(low: int, high: int, roots: Mapping[Range, bytes]) -> bytes | None:
    """The root over a range, from those of its parts; None if one is missing."""
    if (low, high) in roots:
        return roots[low, high]
    if high - low < 2:
        return None
    middle = _split(low, high)
    left = _fold_range(low, middle, roots)
    right = _fold_range(middle, high, roots)
    return None if left is None or right is None else hash_node(left, right)


def _split(low: int, high: int) -> int:
    """Where a range divides: its left part is the largest power of two below its size."""
    return low + (1 << (high - low - 1).bit_length() - 1)


def _list_siblings(index: int, low: int, high: int) -> list[Range]:
    if high - low == 1:
        return []
    middle = _split(low, high)
    if index < middle:
        return [*_list_siblings(index, low, middle), (middle, high)]
    return [*_list_siblings(index, middle, high), (low, middle)]
