"""The Merkle tree of RFC 6962, against the definition of the RFC."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_audit.merkle import Tree, hash_leaf, hash_node
from tests.audit.support import define_root, make_leaves, make_tree

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


@pytest.mark.parametrize("size", sorted(ROOTS))
def test_the_roots_are_the_published_ones(size: int) -> None:
    """So that programs of others compute the same root from the same lines."""
    assert make_tree(LEAVES[:size]).compute_root().hex() == ROOTS[size]


@given(st.integers(0, 60), st.integers(0, 60))
def test_a_tree_goes_on_from_a_saved_frontier(before: int, after: int) -> None:
    """Its leaves need not be there any more."""
    saved = make_tree(make_leaves(before))
    tree = Tree(saved.size, saved.frontier)
    for leaf in make_leaves(before + after)[before:]:
        tree.push(hash_leaf(leaf))
    assert tree.size == before + after
    assert tree.compute_root() == define_root(make_leaves(before + after))


def test_a_frontier_must_fit_its_size() -> None:
    """A saved frontier of another size is refused when it is loaded, not when it is used."""
    with pytest.raises(ValueError, match="3 leaves has 2"):
        Tree(3, [b""])
    with pytest.raises(ValueError, match="-1 leaves"):
        Tree(-1, [b""])


def test_leaves_and_nodes_are_hashed_apart() -> None:
    """Else a record could be forged that looks like two others."""
    left, right = hash_leaf(b"a"), hash_leaf(b"b")
    assert hash_node(left, right) != hash_leaf(left + right)
    assert hash_node(left, right) != hash_node(right, left)
