"""Copies of anything, and whether two values are the same."""

# Wrong values are handed in on purpose.
# mypy: disable-error-code="list-item"

from __future__ import annotations

import collections
import copy
import math
from typing import Any

import pytest
from hypothesis import given

from amplifier_core.utils.copying import (
    VALUES,
    NotPlain,
    adopt,
    copy_any,
    copy_dict,
    copy_part,
    is_alike,
    is_equal,
    is_record,
    is_same,
    take_over,
)
from tests.core.odd_values import Card, Model, Pair, Rude, Stubborn, patient, values


def test_a_record_that_has_no_copy_is_shared():
    card = Stubborn([1])
    assert copy_any([card])[0] is card


def test_copies_keep_type_and_sharing():
    shared: list[int] = [1]
    value = Pair(shared, collections.deque([shared], maxlen=3))
    made = copy_any(value)
    assert type(made) is Pair
    assert made.left is made.right[0] is not shared
    assert made.right.maxlen == 3
    assert copy_any((1, "a")) == (1, "a")


@patient
@given(values, values)
def test_the_same_is_an_equivalence(one, other):
    assert is_same(one, copy.deepcopy(one))
    assert is_same(one, other) == is_same(other, one)
    if is_same(one, other):
        assert repr(one) == repr(other) or isinstance(one, set)


def test_what_is_not_the_same():
    assert not is_same([1, 2], [1])
    assert not is_same({1}, {2})
    assert not is_same(bytearray(b"a"), bytearray(b"b"))
    assert not is_same({"a": 1, "b": 2}, {"b": 2, "a": 1})
    assert not is_same(object(), object())
    assert is_same(Model(items=[1]), Model(items=[1]))
    assert not is_same(Model(items=[1]), Model(items=[2]))
    assert not is_same(Card([Rude()]), Card([Rude()]))


def test_records_are_models_and_dataclasses():
    """Their instances; a plain object is none."""
    assert is_record(Model())
    assert is_record(Card([]))
    assert not is_record({"items": []})


def test_a_value_that_contains_itself_is_copied_and_compared():
    """Neither goes round in circles."""
    value: list = [1]
    value.append(value)
    made = copy_any(value)
    assert made is not value
    assert made[1] is made
    assert is_same(made, value)


def test_what_refuses_to_be_compared_is_not_equal():
    """Whoever compares what a hook left need not know what is in it."""
    assert is_equal({"a": [1]}, {"a": [1]})
    assert not is_equal({"a": 1}, {"a": 2})
    assert not is_equal([Rude()], [Rude()])


def test_a_plain_copy_is_apart_and_shares_what_cannot_change():
    """Whatever only the slow copy understands is refused."""
    thing = object()
    value = {"list": [1, [2]], "tuple": (1, "a"), "deep": ([],), "set": {1}, "thing": thing}
    made = copy_dict(value)
    assert made == value
    assert made["tuple"] is value["tuple"]
    assert made["thing"] is copy_part(thing) is thing
    assert copy_part(2.5) == 2.5
    for key in ("list", "deep", "set"):
        assert made[key] is not value[key]
    refused: list[Any] = [Model(), Card([]), collections.OrderedDict(), Pair(1, 2)]
    for odd in refused:
        with pytest.raises(NotPlain):
            copy_part(odd)


def test_what_is_alike_is_known_without_a_look_inside():
    """The very same parts under the very same keys, in the same order."""
    part: list[int] = [1]
    assert is_alike(part, part)
    assert is_alike({"a": part, "b": 1}, {"a": part, "b": 1})
    assert not is_alike({"a": part}, {"a": [1]})
    assert not is_alike({"a": 1, "b": 2}, {"b": 2, "a": 1})
    assert not is_alike({"a": None}, {"b": None})
    assert not is_alike({"a": 1}, {"a": 1, "b": 2})
    assert not is_alike({1: "a"}, {True: "a"})
    assert not is_alike([1], [1])
    assert not is_alike({}, collections.OrderedDict())


def _take_over_by_asking_at_each_level(item: Any, mine: Any) -> Any:
    """The definition: slow, because every level is compared anew."""
    if is_same(item, mine):
        return mine
    if type(item) is dict:
        old = mine if isinstance(mine, dict) else {}
        return {
            key: _take_over_by_asking_at_each_level(part, old.get(key))
            for key, part in item.items()
        }
    if type(item) is list:
        olds = [*mine, *[None] * len(item)] if isinstance(mine, list) else [None] * len(item)
        pairs = zip(item, olds, strict=False)
        return [_take_over_by_asking_at_each_level(part, old) for part, old in pairs]
    return copy_part(item)


def _draw(result: Any, mine: Any) -> Any:
    """A value with whatever is one's own in it marked."""
    if result is mine and type(result) not in VALUES:
        return "mine"
    if type(result) is dict:
        old = mine if type(mine) is dict else {}
        return [(key, _draw(part, old.get(key))) for key, part in result.items()]
    if type(result) is list:
        olds = [*mine, *[None] * len(result)] if type(mine) is list else [None] * len(result)
        return [_draw(part, old) for part, old in zip(result, olds, strict=False)]
    return type(result), repr(result)


@patient
@given(values, values, values)
def test_what_is_taken_over_is_ones_own_wherever_it_is_the_same(one, other, third):
    """As if every part had been compared."""
    mine = {"a": one, "b": {"c": other, "d": [third, one]}, "e": [other, [third]]}
    came = copy_any(mine)
    for item in (
        came,
        {**came, "a": third},
        {**came, "b": {**came["b"], "d": [other]}},
        {**came, "b": {**came["b"], "d": [*came["b"]["d"], third]}, "e": [[third]]},
        {key: came[key] for key in reversed(came)},
    ):
        kept = copy_any(item)
        made, expected = take_over(item, mine), _take_over_by_asking_at_each_level(item, mine)
        assert _draw(made, mine) == _draw(expected, mine)
        assert is_same(made, kept)


def test_what_only_looks_equal_is_taken_over_as_it_came():
    """A number of another type, keys in another order, a class that is gone."""
    nan = math.nan
    mine = {"a": {"n": 1}, "b": {"x": 1, "y": 2}, "c": [nan], "d": Pair([1], 2)}
    item = {"a": {"n": True}, "b": {"y": 2, "x": 1}, "c": [float("nan")], "d": Pair([1], 2)}
    made = take_over(item, mine)
    assert made["a"]["n"] is True
    assert list(made["b"]) == ["y", "x"]
    assert made["c"] is mine["c"]
    assert made["d"] is mine["d"]
    with pytest.raises(NotPlain):
        take_over({"d": Pair([2], 2)}, mine)
    assert take_over([[1]], collections.UserList([[1]])) == [[1]]


# What a hook handed back

PINNED = dict.fromkeys(("timestamp", "session_id"))


def test_what_was_left_alone_is_the_callers_own_again():
    """Whatever copy of it came back; a changed part is a copy that the hook does not hold."""
    mine: Any = {"same": {"a": 1}, "deep": {"a": [1]}, "changed": {"a": [1], "b": [2]}}
    seen: dict[str, Any] = {"same": {"a": 1}, "deep": {"a": [1]}, "changed": {"a": [1], "b": [3]}}
    result = adopt(seen, mine)
    assert result["same"] is mine["same"]
    assert result["deep"] is mine["deep"]
    assert result["changed"]["a"] is mine["changed"]["a"]
    seen["changed"]["b"].append(4)
    seen["same"]["a"] = 2
    assert result == {"same": {"a": 1}, "deep": {"a": [1]}, "changed": {"a": [1], "b": [3]}}


def test_what_is_equal_and_of_another_type_is_a_change():
    result = adopt({"a": {"n": True}, "b": True}, {"a": {"n": 1}, "b": 1})
    assert result["a"]["n"] is True
    assert result["b"] is True


def test_what_was_added_is_detached():
    added: list[Any] = [[1], {"a": 1}]
    result = adopt({"a": 1, "new": added, "n": 2}, {"a": 1})
    added.append(2)
    assert result == {"a": 1, "new": [[1], {"a": 1}], "n": 2}


def test_what_is_gone_stays_away():
    assert adopt({"b": 2}, {"a": 1, "b": 2}) == {"b": 2}
    assert adopt({"b": 2, "c": 3}, {"a": 1, "b": 2}) == {"b": 2, "c": 3}


def test_what_is_pinned_stays_as_it_was():
    """Changed, dropped, added or given in exchange for another field."""
    mine = {"timestamp": "1", "a": 1}
    assert adopt({"timestamp": "2", "a": 1}, mine, PINNED) == mine
    assert adopt({"a": 1}, mine, PINNED) == mine
    assert adopt({"timestamp": "1", "a": 1, "session_id": "s"}, mine, PINNED) == mine
    assert adopt({"a": 1, "session_id": "s"}, mine, PINNED) == mine
    result = adopt({"b": 1, "c": [2], "d": 3}, mine, PINNED)
    assert list(result.items()) == [("b", 1), ("c", [2]), ("d", 3), ("timestamp", "1")]


def test_what_has_no_quick_copy_is_detached_too():
    class Odd(list[Any]):
        """A container of its own kind."""

    mine = {"odd": Odd([1]), "same": Odd([1])}
    given = Odd([2])
    result = adopt({"odd": given, "same": Odd([1])}, mine)
    given.append(3)
    assert result["odd"] == [2]
    assert type(result["odd"]) is Odd
    assert result["same"] is mine["same"]
