"""The Merkle tree of RFC 6962, against the definition of the RFC."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_audit.format.proof import (
    RangeRoots,
    compute_inclusion_root,
    list_inclusion_ranges,
)
from amplifier_audit.format.tree import Tree, hash_leaf

# The leaves and roots that Certificate Transparency implementations test with.
LEAVES = [
    bytes.fromhex(text)
    for text in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]
ROOTS = {
    0: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    1: "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    2: "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    8: "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
}


def defined_root(leaves: list[bytes]) -> bytes:
    """MTH of RFC 6962, section 2.1, word for word."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return hashlib.sha256(b"\x00" + leaves[0]).digest()
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    both = defined_root(leaves[:k]) + defined_root(leaves[k:])
    return hashlib.sha256(b"\x01" + both).digest()


def data(count: int) -> list[bytes]:
    return [str(number).encode() for number in range(count)]


def tree_of(leaves: list[bytes]) -> Tree:
    tree = Tree()
    for leaf in leaves:
        tree.push(hash_leaf(leaf))
    return tree


@pytest.mark.parametrize("size", sorted(ROOTS))
def test_the_roots_are_the_published_ones(size: int) -> None:
    """Existing witnesses and verifiers can be used."""
    assert tree_of(LEAVES[:size]).compute_root().hex() == ROOTS[size]


@given(st.integers(0, 200))
def test_the_frontier_folds_to_the_defined_root(size: int) -> None:
    """RFC 6962 root."""
    assert tree_of(data(size)).compute_root() == defined_root(data(size))


@given(st.data())
def test_every_inclusion_proof_holds_and_no_other_leaf_does(draw: st.DataObject) -> None:
    """Inclusion proof for one record."""
    size = draw.draw(st.integers(1, 130))
    index = draw.draw(st.integers(0, size - 1))
    roots = RangeRoots(list_inclusion_ranges(index, size))
    for leaf in data(size):
        roots.push(hash_leaf(leaf))
    proof, root = roots.compute_roots(), defined_root(data(size))
    leaf = hash_leaf(data(size)[index])
    assert compute_inclusion_root(index, size, leaf, proof) == root
    assert compute_inclusion_root(index, size, hash_leaf(b"other"), proof) != root
    assert compute_inclusion_root(index, size, leaf, [*proof, leaf]) is None
    assert len(proof) <= (size - 1).bit_length()
    if proof:
        assert compute_inclusion_root(index, size, leaf, proof[:-1]) is None


@given(st.data())
def test_proofs_go_on_from_a_saved_frontier(draw: st.DataObject) -> None:
    """Retention deletes whole sealed segments; what is left can still be proven."""
    size = draw.draw(st.integers(2, 130))
    start = draw.draw(st.integers(0, size - 1))
    index = draw.draw(st.integers(start, size - 1))
    roots = RangeRoots(list_inclusion_ranges(index, size), start, tree_of(data(start)).frontier)
    for leaf in data(size)[start:]:
        roots.push(hash_leaf(leaf))
    leaf = hash_leaf(data(size)[index])
    assert compute_inclusion_root(index, size, leaf, roots.compute_roots()) == defined_root(
        data(size)
    )


def test_a_proof_that_needs_lost_leaves_says_so() -> None:
    """What is not there cannot be proven."""
    with pytest.raises(ValueError, match="needed for this proof"):
        RangeRoots(list_inclusion_ranges(0, 8), 6, tree_of(data(6)).frontier)


@pytest.mark.parametrize(("index", "size"), [(-1, 3), (3, 3), (0, 0)])
def test_a_leaf_outside_the_tree_has_no_proof(index: int, size: int) -> None:
    """Bad input gets a clear sentence."""
    with pytest.raises(ValueError, match="not among"):
        list_inclusion_ranges(index, size)


def test_ten_million_records_need_at_most_24_hashes() -> None:
    """Inclusion proof for one record, at most 24 hashes for ten million records."""
    assert max(len(list_inclusion_ranges(n, 10_000_000)) for n in (0, 5_000_000, 9_999_999)) <= 24


def test_wrong_sizes_never_pass() -> None:
    """A proof is one for its numbers."""
    leaf = hash_leaf(b"")
    assert compute_inclusion_root(0, 1, leaf, []) == leaf
