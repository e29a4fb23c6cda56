"""The Merkle tree of RFC 6962, against the definition of the RFC."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_audit.merkle import EMPTY_ROOT, Tree, fold, hash_leaf, hash_node
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


@given(st.integers(0, 200))
def test_the_frontier_folds_to_the_defined_root(size: int) -> None:
    """Growing leaf by leaf ends at the root of the recursive definition."""
    assert make_tree(make_leaves(size)).compute_root() == define_root(make_leaves(size))


@given(st.integers(0, 60), st.integers(0, 60))
def test_a_tree_goes_on_from_a_saved_frontier(before: int, after: int) -> None:
    """Its leaves need not be there any more."""
    saved = make_tree(make_leaves(before))
    tree = Tree(saved.size, saved.frontier)
    for leaf in make_leaves(before + after)[before:]:
        tree.push(hash_leaf(leaf))
    assert tree.size == before + after
    assert tree.compute_root() == define_root(make_leaves(before + after))


@given(st.integers(0, 70), st.lists(st.integers(0, 40), max_size=4))
def test_many_leaves_at_a_time_make_the_same_tree(before: int, counts: list[int]) -> None:
    """Whatever was there, and however they are portioned."""
    hashes = [hash_leaf(leaf) for leaf in make_leaves(before + sum(counts))]
    one, many = make_tree(make_leaves(before)), make_tree(make_leaves(before))
    for leaf in hashes[before:]:
        one.push(leaf)
    for count in counts:
        many.extend(hashes[many.size : many.size + count])
    assert (many.size, many.frontier) == (one.size, one.frontier)


@given(st.integers(0, 5000))
def test_a_frontier_has_one_node_for_each_bit_of_the_size(size: int) -> None:
    """Memory grows with the logarithm of the log."""
    tree = Tree()
    for _ in range(size):
        tree.push(bytes(32))
    assert len(tree.frontier) == size.bit_count()


def test_a_frontier_must_fit_its_size() -> None:
    """A saved frontier of another size is refused when it is loaded, not when it is used."""
    with pytest.raises(ValueError, match="3 leaves has 2"):
        Tree(3, [b""])
    with pytest.raises(ValueError, match="-1 leaves"):
        Tree(-1, [b""])


def test_a_frontier_that_was_handed_out_does_not_change() -> None:
    """A head that somebody keeps stays what it was."""
    tree = make_tree(make_leaves(3))
    kept = tree.frontier
    tree.push(bytes(32))
    assert len(kept) == 2
    assert tree.frontier != kept


def test_leaves_and_nodes_are_hashed_apart() -> None:
    """Else a record could be forged that looks like two others."""
    left, right = hash_leaf(b"a"), hash_leaf(b"b")
    assert hash_node(left, right) != hash_leaf(left + right)
    assert hash_node(left, right) != hash_node(right, left)


def test_no_leaves_fold_to_the_empty_root() -> None:
    """The log that has no records has a root as well."""
    assert fold([]) == Tree().compute_root() == EMPTY_ROOT
