"""Inclusion proofs: whoever has a record, a root and a few hashes needs no log."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_audit.merkle import (
    RangeRoots,
    compute_inclusion_root,
    hash_leaf,
    list_consistency_ranges,
    list_inclusion_ranges,
    list_subtrees,
    verify_consistency,
)
from tests.audit.support import define_root, make_leaves, make_tree


def prove(index: int, size: int) -> list[bytes]:
    roots = RangeRoots(list_inclusion_ranges(index, size))
    for leaf in make_leaves(size):
        roots.push(hash_leaf(leaf))
    return roots.compute_roots()


@given(st.data())
def test_every_inclusion_proof_holds_and_no_other_leaf_does(draw: st.DataObject) -> None:
    """A proof leads from its leaf to the root, and from nothing else, and is short."""
    size = draw.draw(st.integers(1, 130))
    index = draw.draw(st.integers(0, size - 1))
    proof, root = prove(index, size), define_root(make_leaves(size))
    leaf = hash_leaf(make_leaves(size)[index])
    assert compute_inclusion_root(index, size, leaf, proof) == root
    assert compute_inclusion_root(index, size, hash_leaf(b"other"), proof) != root
    assert compute_inclusion_root(index, size, leaf, [*proof, leaf]) is None
    assert len(proof) <= (size - 1).bit_length()
    if proof:
        assert compute_inclusion_root(index, size, leaf, proof[:-1]) is None


@given(st.data())
def test_a_proof_holds_for_its_own_place_only(draw: st.DataObject) -> None:
    """Nobody can say that a record stood elsewhere in the log."""
    size = draw.draw(st.integers(2, 130))
    index = draw.draw(st.integers(0, size - 1))
    other = draw.draw(st.integers(-5, size + 5).filter(lambda number: number != index))
    leaf, root = hash_leaf(make_leaves(size)[index]), define_root(make_leaves(size))
    assert compute_inclusion_root(other, size, leaf, prove(index, size)) != root


@given(st.data())
def test_proofs_go_on_from_a_saved_frontier(draw: st.DataObject) -> None:
    """What is left of a log after retention can still be proven."""
    size = draw.draw(st.integers(2, 130))
    start = draw.draw(st.integers(0, size - 1))
    index = draw.draw(st.integers(start, size - 1))
    frontier = make_tree(make_leaves(start)).frontier
    roots = RangeRoots(list_inclusion_ranges(index, size), start, frontier)
    for leaf in make_leaves(size)[start:]:
        roots.push(hash_leaf(leaf))
    leaf = hash_leaf(make_leaves(size)[index])
    found = compute_inclusion_root(index, size, leaf, roots.compute_roots())
    assert found == define_root(make_leaves(size))


def test_a_proof_that_needs_lost_leaves_says_so() -> None:
    """What is not there cannot be proven."""
    with pytest.raises(ValueError, match="needed for this proof"):
        RangeRoots(list_inclusion_ranges(0, 8), 6, make_tree(make_leaves(6)).frontier)


def test_a_frontier_of_another_size_is_refused() -> None:
    """Nodes that belong to no known subtree would give a wrong root."""
    with pytest.raises(ValueError):
        RangeRoots(list_inclusion_ranges(7, 8), 6, make_tree(make_leaves(4)).frontier)


@pytest.mark.parametrize(("index", "size"), [(-1, 3), (3, 3), (0, 0)])
def test_a_leaf_outside_the_tree_has_no_proof(index: int, size: int) -> None:
    """A record that the checkpoint does not cover is refused by name."""
    with pytest.raises(ValueError, match="not among"):
        list_inclusion_ranges(index, size)
    assert compute_inclusion_root(index, size, hash_leaf(b""), []) is None


def test_ten_million_records_need_at_most_24_hashes() -> None:
    """A proof fits into a message, however long the log."""
    for index in (0, 5_000_000, 9_999_999):
        assert len(list_inclusion_ranges(index, 10_000_000)) <= 24


def test_the_only_record_of_a_log_is_its_own_proof() -> None:
    """A tree of one leaf has that leaf's hash as its root."""
    leaf = hash_leaf(b"")
    assert compute_inclusion_root(0, 1, leaf, []) == leaf
    assert list_inclusion_ranges(0, 1) == []


@given(st.integers(0, 10**6))
def test_the_complete_subtrees_cover_every_leaf_once(size: int) -> None:
    """They lie side by side, each a power of two wide and smaller than the one before."""
    ranges = list_subtrees(size)
    assert sum(high - low for low, high in ranges) == size
    assert [low for low, _ in ranges] == [0, *(high for _, high in ranges)][: len(ranges)]
    widths = [high - low for low, high in ranges]
    assert widths == sorted(set(widths), reverse=True)
    assert all(width.bit_count() == 1 for width in widths)


def prove_consistency(old: int, new: int, start: int = 0) -> list[bytes]:
    frontier = make_tree(make_leaves(start)).frontier
    roots = RangeRoots(list_consistency_ranges(old, new), start, frontier)
    for leaf in make_leaves(new)[start:]:
        roots.push(hash_leaf(leaf))
    return roots.compute_roots()


@given(st.data())
def test_a_tree_is_proven_to_continue_its_beginning_and_no_other(draw: st.DataObject) -> None:
    """The proof needs the frontier of the old tree and the new leaves only, and is short."""
    new = draw.draw(st.integers(1, 130))
    old = draw.draw(st.integers(1, new))
    before, after = define_root(make_leaves(old)), define_root(make_leaves(new))
    proof = prove_consistency(old, new)
    assert proof == prove_consistency(old, new, start=old)
    assert verify_consistency(old, before, new, after, proof)
    assert len(proof) <= 2 * new.bit_length()
    other = hash_leaf(b"other")
    assert not verify_consistency(old, other, new, after, proof)
    assert not verify_consistency(old, before, new, other, proof)
    assert not verify_consistency(old, before, new, after, [*proof, other])


@given(st.data())
def test_no_changed_hash_in_a_consistency_proof_goes_unnoticed(draw: st.DataObject) -> None:
    """Nor does a proof of other sizes hold."""
    new = draw.draw(st.integers(2, 130))
    old = draw.draw(st.integers(1, new - 1))
    before, after = define_root(make_leaves(old)), define_root(make_leaves(new))
    proof = prove_consistency(old, new)
    place = draw.draw(st.integers(0, len(proof) - 1))
    forged = [hash_leaf(b"other") if at == place else one for at, one in enumerate(proof)]
    assert not verify_consistency(old, before, new, after, forged)
    assert not verify_consistency(old, before, new, after, [*proof[:place], *proof[place + 1 :]])
    assert not verify_consistency(old + 1, before, new, after, proof)


@given(st.integers(1, 60), st.integers(1, 60), st.integers(0, 59))
def test_a_rewritten_history_has_no_proof(old: int, more: int, changed: int) -> None:
    """A log that changed one old record cannot prove itself with any hashes of its own."""
    leaves = make_leaves(old + more)
    forged = [b"forged" if at == changed % old else leaf for at, leaf in enumerate(leaves)]
    roots = RangeRoots(list_consistency_ranges(old, old + more))
    for leaf in forged:
        roots.push(hash_leaf(leaf))
    before = define_root(leaves[:old])
    after = define_root(forged)
    assert not verify_consistency(old, before, old + more, after, roots.compute_roots())


@pytest.mark.parametrize(("old", "new"), [(0, 5), (6, 5), (-1, 5)])
def test_sizes_that_make_no_sense_are_refused(old: int, new: int) -> None:
    """Nothing continues an empty tree, and none shrinks."""
    assert not verify_consistency(old, b"r" * 32, new, b"r" * 32, [])
    with pytest.raises(ValueError, match="does not continue"):
        list_consistency_ranges(old, new)
