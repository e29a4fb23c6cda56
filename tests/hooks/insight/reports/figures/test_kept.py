"""Lists with bounds."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_hooks.insight.reports.figures.kept import OTHERS, Kept, Named, Open, count_named


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 9), st.integers(0, 40))
def test_the_first_and_the_last_are_kept_and_the_others_counted(most: int, count: int) -> None:
    """Never more than there is room for; nothing is lost without being counted."""
    kept: Kept[int] = Kept(most)
    for number in range(count):
        kept.add(number)
    assert [*kept] == [*kept.first, *kept.last]
    assert len([*kept]) + kept.left_out == kept.count == count
    assert len([*kept]) <= most
    if count:
        assert next(iter(kept)) == 0
    if most > 1 and count:
        assert [*kept][-1] == count - 1


def test_without_a_gap_everything_comes_before_it() -> None:
    """What fits has no last part."""
    kept: Kept[int] = Kept(4)
    for number in range(4):
        kept.add(number)
    assert kept.first == [0, 1, 2, 3]
    assert kept.last == []


def test_names_without_room_share_one() -> None:
    """A trail with a million names does not fill the memory."""
    named: Named[Counter[str]] = Named(Counter, 2)
    for name in ("a", "b", "c", "d", "a"):
        named.take(name)["seen"] += 1
    assert {name: one["seen"] for name, one in named.items()} == {"a": 2, "b": 1, OTHERS: 2}
    counts: Counter[str] = Counter()
    for name in ("a", "b", "c", "a"):
        count_named(counts, name, 2)
    assert counts == {"a": 2, "b": 1, OTHERS: 1}


def test_the_oldest_open_thing_is_forgotten() -> None:
    """What never ends makes room for what is new."""
    open_things: Open[str, int] = Open(2)
    for number, name in enumerate(("a", "b", "a", "c")):
        open_things[name] = number
    assert open_things == {"b": 1, "c": 3}
