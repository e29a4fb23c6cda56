"""Copies of anything, and whether two values are the same."""

# Wrong values are handed in on purpose.
# mypy: disable-error-code="list-item"

from __future__ import annotations

import collections
import copy

from hypothesis import given

from amplifier_core.utils.copying import copy_any, is_equal, is_record, is_same
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
