"""Inclusion proofs of RFC 6962, made in one pass over the leaves.

A proof is a list of roots of ranges of leaves. Which ranges these are follows from the numbers
alone, so the prover first lists them and then adds up the leaves as they stream by, in logarithmic
memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from amplifier_audit.format.tree import Tree, hash_node

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
    here, last, root = index, size - 1, leaf
    for sibling in proof:
        if last == 0:
            return None
        if here & 1 or here == last:
            root = hash_node(sibling, root)
            while here and not here & 1:
                here, last = here >> 1, last >> 1
        else:
            root = hash_node(root, sibling)
        here, last = here >> 1, last >> 1
    return root if last == 0 else None


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


def _list_siblings(index: int, low: int, high: int) -> list[Range]:
    if high - low == 1:
        return []
    # The left part is the largest power of two below the size.
    middle = low + (1 << (high - low - 1).bit_length() - 1)
    if index < middle:
        return [*_list_siblings(index, low, middle), (middle, high)]
    return [*_list_siblings(index, middle, high), (low, middle)]
