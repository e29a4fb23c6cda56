"""The one walk over nested data."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict

from amplifier_core.utils.nested import (
    KnownTexts,
    convert,
    is_container,
    iterate_parts,
    iterate_paths,
    iterate_texts,
    rewrite,
)

Point = namedtuple("Point", "x y")

LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
DATA = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=20,
)


class Note(BaseModel):
    """A pydantic model with room for more."""

    model_config = ConfigDict(extra="allow")

    title: str
    tags: list[str] = []


class Frozen(BaseModel):
    """A model that cannot be assigned to."""

    model_config = ConfigDict(frozen=True)

    title: str


class Fresh(Mapping[str, list[str]]):
    """A mapping whose values exist only while somebody looks."""

    def __getitem__(self, key: str) -> list[str]:
        return [key.replace("k", "v")]

    def __iter__(self) -> Iterator[str]:
        return iter(("k0", "k1"))

    def __len__(self) -> int:
        return 2


def shout(text: str, key: Any) -> str:
    return text.upper()


def nest(depth: int, leaf: Any) -> Any:
    for _ in range(depth):
        leaf = [leaf]
    return leaf


def texts_by_recursion(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for part in value.values() for text in texts_by_recursion(part)]
    if isinstance(value, list | tuple):
        return [text for part in value for text in texts_by_recursion(part)]
    return []


# Reading


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({}, True),
        (MappingProxyType({}), True),
        ([], True),
        ((), True),
        (set(), True),
        (frozenset(), True),
        (Note(title="a"), True),
        ("text", False),
        (b"bytes", False),
        (1.5, False),
        (None, False),
        (object(), False),
    ],
)
def test_containers_are_what_has_parts(value: Any, expected: bool) -> None:
    assert is_container(value) is expected


def test_parts_come_with_the_key_they_stand_under() -> None:
    """What stands in a list stands under the list's key."""
    value = {"path": ["a", {"mode": "r"}], "n": 1}
    assert list(iterate_parts(value)) == [
        (None, value),
        ("path", ["a", {"mode": "r"}]),
        ("path", "a"),
        ("path", {"mode": "r"}),
        ("mode", "r"),
        ("n", 1),
    ]


def test_fields_of_a_model_are_parts_and_so_are_its_extras() -> None:
    note = Note(title="a", tags=["b"], colour="c")  # type: ignore[call-arg]
    assert [(key, part) for key, part in iterate_parts(note) if isinstance(part, str)] == [
        ("title", "a"),
        ("tags", "b"),
        ("colour", "c"),
    ]


@given(DATA)
def test_the_texts_are_those_that_recursion_finds(value: Any) -> None:
    assert list(iterate_texts(value)) == texts_by_recursion(value)


def test_a_container_that_contains_itself_is_read_once() -> None:
    loop: dict[str, Any] = {"name": "a"}
    loop["again"] = [loop]
    assert list(iterate_texts(loop)) == ["a", "a"]  # once as the whole, once under "again"


def test_what_two_keys_share_is_found_under_both() -> None:
    """A guard that looks for one key must not miss it because another key came first."""
    shared = ["/production/db"]
    found = [
        key for key, part in iterate_parts({"note": shared, "path": shared}) if part == shared[0]
    ]
    assert found == ["note", "path"]


def test_no_depth_stops_a_reader() -> None:
    assert list(iterate_texts(nest(20_000, "deep"))) == ["deep"]


def test_too_many_parts_are_an_error_and_not_a_stall() -> None:
    assert len(list(iterate_parts([0] * 9, limit=10))) == 10
    with pytest.raises(ValueError, match="over 10 parts"):
        list(iterate_parts([0] * 10, limit=10))


# Converting


def to_plain(value: Any, **limits: Any) -> Any:
    limits = {"max_depth": 3, **limits}
    return convert(value, str, key=str.upper, at_limit=lambda: "…", **limits)


def test_conversion_leaves_dicts_and_lists_only() -> None:
    value = {"a": (1, {2}), "b": MappingProxyType({"c": None})}
    assert to_plain(value) == {"A": ["1", ["2"]], "B": {"C": "None"}}


def test_conversion_takes_a_model_as_a_leaf() -> None:
    assert to_plain([Note(title="a")]) == ["title='a' tags=[]"]


def test_conversion_ends_at_its_depth() -> None:
    assert to_plain(nest(5, 1), max_depth=2) == [["…"]]


def test_conversion_ends_after_its_number_of_parts() -> None:
    assert to_plain([[], [], []], max_parts=3) == [[], [], "…"]


def test_conversion_ends_on_a_cycle() -> None:
    loop: list[Any] = []
    loop.append(loop)
    assert to_plain(loop) == [[["…"]]]


# Rewriting


@given(DATA)
def test_a_rewrite_reaches_every_text(value: Any) -> None:
    changed = rewrite(value, shout)
    assert list(iterate_texts(changed)) == [text.upper() for text in texts_by_recursion(value)]


@given(DATA)
def test_a_rewrite_that_changes_nothing_returns_the_same_object(value: Any) -> None:
    assert rewrite(value, lambda text, key: text) is value


def test_a_rewrite_leaves_the_original_alone() -> None:
    original = {"a": ["b", {"c": ("d",)}]}
    assert rewrite(original, shout) == {"A": ["B", {"C": ("D",)}]}
    assert original == {"a": ["b", {"c": ("d",)}]}


def test_keys_can_be_kept() -> None:
    assert rewrite({"a": {"b": "c"}}, shout, keys=False) == {"a": {"b": "C"}}


def test_the_key_of_a_text_is_told() -> None:
    heard: list[tuple[str, Any]] = []

    def listen(text: str, key: Any) -> str:
        heard.append((text, key))
        return text

    rewrite({"password": "x", "list": ["y"]}, listen)
    assert ("x", "password") in heard
    assert ("y", None) in heard


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Point("a", 1), Point("A", 1)),
        ({"a"}, {"A"}),
        (frozenset({"a"}), frozenset({"A"})),
        (b"a\xff", b"A\xff"),
        (bytearray(b"a"), bytearray(b"A")),
        (MappingProxyType({"a": "b"}), {"A": "B"}),
    ],
)
def test_every_kind_of_container_keeps_its_kind(value: Any, expected: Any) -> None:
    changed = rewrite([value], shout)[0]
    assert changed == expected
    assert type(changed) is type(expected)


def test_a_model_stays_a_model() -> None:
    note = Note(title="a", tags=["b"], colour="c")  # type: ignore[call-arg]
    changed = rewrite(note, shout)
    assert changed.model_dump() == {"title": "A", "tags": ["B"], "colour": "C"}


def test_keys_that_become_one_are_all_kept() -> None:
    changed = rewrite({"a": 1, "A": 2, "A (2)": 3}, shout)
    assert changed == {"A": 1, "A (2)": 2, "A (2) (2)": 3}
    changed = rewrite({"aa": 1, "aA": 2, "AA": 3}, shout)
    assert changed == {"AA": 1, "AA (2)": 2, "AA (3)": 3}


def test_a_list_that_contains_itself_is_copied_with_its_loop() -> None:
    loop: list[Any] = ["a"]
    loop.append(loop)
    changed = rewrite(loop, shout)
    assert changed[0] == "A"
    assert changed[1] is changed


def test_a_tuple_whose_list_contains_it_is_copied_too() -> None:
    inner: list[Any] = ["a"]
    loop = (inner,)
    inner.append(loop)
    changed = rewrite(loop, shout)
    assert changed[0][0] == "A"
    assert changed[0][1][0] is changed[0]


def test_a_model_that_contains_itself_is_copied_with_its_loop() -> None:
    note = Note(title="a")
    note.again = [note]  # type: ignore[attr-defined]
    changed = rewrite(note, shout)
    assert changed.title == "A"
    assert changed.again[0] is changed
    assert note.title == "a"


def test_a_frozen_model_is_rewritten_like_any_other() -> None:
    assert rewrite([Frozen(title="a")], shout) == [Frozen(title="A")]


def test_a_mapping_that_makes_its_parts_anew_is_read_once() -> None:
    """Its parts are no longer there when the copy is made; ids that are used again must not mix."""
    assert rewrite({"a": Fresh(), "b": Fresh()}, shout) == {"A": {"K0": ["V0"], "K1": ["V1"]}} | {
        "B": {"K0": ["V0"], "K1": ["V1"]}
    }


def test_no_depth_stops_a_rewrite() -> None:
    changed = rewrite(nest(20_000, "deep"), shout)
    assert list(iterate_texts(changed)) == ["DEEP"]


def test_what_stays_as_it_is_is_not_copied() -> None:
    """Whatever it is made of: plain data that contains itself, and keys that are no texts."""
    loop: list[Any] = ["A"]
    loop.append({"B": loop, ("C", 1): [2.0, None, True]})
    assert rewrite(loop, shout) is loop
    assert rewrite({("c",): 1}, shout) == {("C",): 1}
    assert rewrite({1: "a"}, shout) == {1: "A"}
    assert rewrite({"a": "B"}, shout, keys=False) == {"a": "B"}


@given(st.lists(DATA, max_size=4))
def test_what_is_known_changes_no_result(values):
    """A rewriting that remembers what it left alone says the same as one that does not."""

    def mark(text: str, key: Any) -> str:
        return f"{text}!" if "a" in text or key == "b" else text

    known = KnownTexts()
    for value in [*values, *values]:
        assert rewrite(value, mark, known=known) == rewrite(value, mark)


def test_what_is_known_is_not_asked_about_again():
    """Neither a text nor the key that it stands under."""
    asked: list[tuple[str, Any]] = []
    known = KnownTexts()

    def leave(text: str, key: Any) -> str:
        asked.append((text, key))
        return text

    for _ in range(3):
        rewrite({"name": ["one", "one"]}, leave, known=known)
    assert sorted(asked) == [("name", None), ("one", None)]


def test_no_text_passes_for_a_known_one():
    """One that says that it is equal to another is looked at by itself."""

    class Sly(str):
        __slots__ = ()

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return hash("harmless")

    known = KnownTexts()
    hide = lambda text, _: str.replace(text, "hunter2", "***")  # noqa: E731
    rewrite({"harmless": "harmless"}, hide, known=known)
    assert str(rewrite({"name": Sly("hunter2")}, hide, known=known)["name"]) == "***"
    assert [str.__str__(key) for key in rewrite({Sly("hunter2"): 1}, hide, known=known)] == ["***"]


def test_neither_long_texts_nor_too_many_are_remembered():
    """What a session says does not pile up."""
    known = KnownTexts()
    rewrite("x" * 201, lambda text, _: text, known=known)
    assert not known
    for number in range(2_500):
        rewrite(str(number), lambda text, _: text, known=known)
    assert 0 < len(known) <= 1_000


def test_every_part_has_its_path() -> None:
    """In the order in which it is written; what is not to be entered is given as a whole."""
    value = {"a": [{"b": 1}, "x"], "c": {"d": 2}}
    assert [path for path, _ in iterate_paths(value)] == [
        "",
        "a",
        "a[0]",
        "a[0].b",
        "a[1]",
        "c",
        "c.d",
    ]
    parts = dict(iterate_paths(value, lambda part: part != {"d": 2}))
    assert parts["c"] == {"d": 2}
    assert "c.d" not in parts


def test_what_is_nested_too_deeply_for_paths_is_refused() -> None:
    """A list that contains itself ends, too."""
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(RecursionError, match="more than 5 levels"):
        list(iterate_paths(endless, levels=5))
    assert len(list(iterate_paths([[[]]], levels=2))) == 3
