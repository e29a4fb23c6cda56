"""Copies of sealed places as values: compared, and joined."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.sandbox.seal.copy import (
    ABSENT,
    Copy,
    build_tree,
    find_changes,
    graft,
    is_changed,
)


def test_what_lies_below_a_place_is_part_of_it() -> None:
    """In whichever order they are listed."""
    assert build_tree([("a", "b"), ("a",), ("c", "d"), ("c", "e")]) == {
        "a": {},
        "c": {"d": {}, "e": {}},
    }


def test_a_change_on_the_way_is_named_where_the_way_ends() -> None:
    """A link in a folder's place counts once, a file inside counts as itself."""
    tree = build_tree([("a", "b"), ("a", "c")])
    file = Copy("file", data=b"x")
    before = Copy("way", entries={"a": Copy("way", entries={"b": file})})
    assert find_changes(before, ABSENT, tree) == [("a", "b")]
    assert find_changes(before, Copy("way", entries={"a": Copy("link")}), tree) == [("a",)]
    assert find_changes(before, before, tree) == []


copies = st.recursive(
    st.builds(Copy, st.sampled_from(["file", "link"]), data=st.binary(max_size=2)),
    lambda inner: st.builds(
        Copy,
        st.just("folder"),
        entries=st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    ),
    max_leaves=6,
)


def get_at(copy: Copy, parts: tuple[str, ...]) -> Copy:
    for part in parts:
        copy = copy.entries.get(part, ABSENT)
    return copy


@given(copies, copies, st.lists(st.sampled_from("abc"), max_size=3).map(tuple))
def test_a_graft_changes_one_path_and_nothing_beside_it(
    before: Copy, now: Copy, parts: tuple[str, ...]
) -> None:
    """At the path stands what is there now, unless something that is no folder was in the way."""
    grafted = graft(before, now, parts)
    assert get_at(grafted, parts) == get_at(now, parts)
    if parts and before.kind == now.kind == "folder":
        for name in set("abc") - {parts[0]}:
            assert get_at(grafted, (name,)) == get_at(before, (name,))


@given(copies)
def test_nothing_differs_from_itself(copy: Copy) -> None:
    """However deep it is."""
    assert not is_changed(copy, copy)
