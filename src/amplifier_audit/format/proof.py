"""Inclusion and consistency proofs of RFC 6962, made in one pass over the leaves.

A proof is a list of roots of ranges of leaves. Which ranges, follows from the numbers alone; so the
prover first names them and then adds up the leaves as they stream by, in logarithmic memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from amplifier_audit.format.tree import Tree, node_hash

Range = tuple[int, int]


def inclusion_ranges(index: int, size: int) -> list[Range]:
    """The ranges whose roots prove that leaf `index` is in a tree of `size` leaves."""
    if not 0 <= index < size:
        raise ValueError(f"Record {index} is not among the first {size}")
    return _inclusion(index, 0, size)


def consistency_ranges(old: int, new: int) -> list[Range]:
    """The ranges whose roots prove that the first `old` of `new` leaves are unchanged."""
    if not 0 < old <= new:
        raise ValueError(f"A tree of {new} leaves has no proof for its first {old}")
    return [] if old == new else _consistency(old, 0, new, whole=True)


class RangeRoots:
    """Adds up streaming leaf hashes into the roots of the given ranges.

    Leaves before `start` are known only through the frontier of the tree at that size.
    """

    def __init__(
        self, ranges: Sequence[Range], start: int = 0, frontier: Iterable[bytes] = ()
    ) -> None:
        known = dict(zip(subtrees(start), frontier, strict=True))
        self._next = start
        self._sums = [(low, high, _seeded(low, min(high, start), known)) for low, high in ranges]

    def push(self, leaf: bytes) -> None:
        """The hash of the next leaf."""
        index = self._next
        self._next += 1
        for low, high, tree in self._sums:
            if low <= index < high:
                tree.push(leaf)

    def roots(self) -> list[bytes]:
        """One root per range, in the order of the ranges."""
        return [tree.root() for _, _, tree in self._sums]


def _seeded(low: int, high: int, known: Mapping[Range, bytes]) -> Tree:
    if high <= low:
        return Tree()
    inside = [(r, root) for r, root in known.items() if low <= r[0] and r[1] <= high]
    if sum(r[1] - r[0] for r, _ in inside) != high - low:
        raise ValueError(f"Records {low} to {high - 1} are needed for this proof and not there")
    return Tree(high - low, [root for _, root in inside])


def subtrees(size: int) -> list[Range]:
    """The complete subtrees of a tree of that size, as ranges, largest first."""
    ranges: list[Range] = []
    low = 0
    for bit in reversed(range(size.bit_length())):
        if size >> bit & 1:
            ranges.append((low, low + (1 << bit)))
            low += 1 << bit
    return ranges


def root_of_inclusion(index: int, size: int, leaf: bytes, proof: Sequence[bytes]) -> bytes | None:
    """The root that the proof leads to from a leaf's hash; None for a proof of wrong length."""
    here, last, root = index, size - 1, leaf
    for sibling in proof:
        if last == 0:
            return None
        if here & 1 or here == last:
            root = node_hash(sibling, root)
            while here and not here & 1:
                here, last = here >> 1, last >> 1
        else:
            root = node_hash(root, sibling)
        here, last = here >> 1, last >> 1
    return root if last == 0 else None


def is_consistent(
    old: int, old_root: bytes, new: int, new_root: bytes, proof: Sequence[bytes]
) -> bool:
    """Whether the proof shows that the tree of `old` leaves is how the one of `new` began."""
    if old == new:
        return old_root == new_root and not proof
    path = [old_root, *proof] if old & (old - 1) == 0 else list(proof)
    here, last = old - 1, new - 1
    while here & 1:
        here, last = here >> 1, last >> 1
    return bool(path) and _walk(path, here, last) == (old_root, new_root)


def _walk(path: Sequence[bytes], here: int, last: int) -> tuple[bytes, bytes] | None:
    """Both roots that the path leads to; None for a path of wrong length."""
    first = second = path[0]
    for sibling in path[1:]:
        if last == 0:
            return None
        if here & 1 or here == last:
            first, second = node_hash(sibling, first), node_hash(sibling, second)
            while here and not here & 1:
                here, last = here >> 1, last >> 1
        else:
            second = node_hash(second, sibling)
        here, last = here >> 1, last >> 1
    return (first, second) if last == 0 else None


def _inclusion(index: int, low: int, high: int) -> list[Range]:
    if high - low == 1:
        return []
    middle = low + _split(high - low)
    if index < middle:
        return [*_inclusion(index, low, middle), (middle, high)]
    return [*_inclusion(index, middle, high), (low, middle)]


def _consistency(old: int, low: int, high: int, *, whole: bool) -> list[Range]:
    if old == high:
        return [] if whole else [(low, high)]
    middle = low + _split(high - low)
    if old <= middle:
        return [*_consistency(old, low, middle, whole=whole), (middle, high)]
    return [*_consistency(old, middle, high, whole=False), (low, middle)]


def _split(size: int) -> int:
    """The largest power of two below the size."""
    return 1 << (size - 1).bit_length() - 1
