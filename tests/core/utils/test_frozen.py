"""Read-only dicts and lists: what reads them works, what would change them says what to do."""

from __future__ import annotations

import copy
import json
import operator
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.hooks import HookRegistry
from amplifier_core.models import HookResult
from amplifier_core.utils.copying import NotPlain, detach, freeze, is_same
from amplifier_core.utils.frozen import READ_ONLY, FrozenDict, FrozenList, thaw

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
MESSAGE = {"role": "user", "content": [{"type": "text", "text": "hi"}], "metadata": {}}

CHANGES: dict[str, Callable[[Any], object]] = {
    "set": lambda one: operator.setitem(one, "role", "system"),
    "delete": lambda one: operator.delitem(one, "role"),
    "merge": lambda one: operator.ior(one, {"role": "system"}),
    "clear": lambda one: one.clear(),
    "pop": lambda one: one.pop("role"),
    "popitem": lambda one: one.popitem(),
    "setdefault": lambda one: one.setdefault("name", "x"),
    "update": lambda one: one.update(role="system"),
    "set in list": lambda one: operator.setitem(one["content"], 0, "x"),
    "delete in list": lambda one: operator.delitem(one["content"], 0),
    "add in place": lambda one: operator.iadd(one["content"], ["x"]),
    "repeat in place": lambda one: operator.imul(one["content"], 2),
    "append": lambda one: one["content"].append("x"),
    "clear list": lambda one: one["content"].clear(),
    "extend": lambda one: one["content"].extend(["x"]),
    "insert": lambda one: one["content"].insert(0, "x"),
    "pop from list": lambda one: one["content"].pop(),
    "remove": lambda one: one["content"].remove(one["content"][0]),
    "reverse": lambda one: one["content"].reverse(),
    "sort": lambda one: one["content"].sort(),
    "set deep": lambda one: operator.setitem(one["content"][0], "text", "x"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_nothing_changes_it(change):
    """Every way in which a dict or a list can be changed is refused, with what would do."""
    frozen = freeze(MESSAGE)
    with pytest.raises(TypeError, match="return it with action='modify'"):
        change(frozen)
    assert frozen == MESSAGE


def test_every_method_that_changes_a_dict_or_a_list_is_among_them():
    """A method that a later Python adds is not forgotten."""
    reading = {"copy", "fromkeys", "get", "items", "keys", "values", "count", "index"}
    for frozen, plain in ((FrozenDict, dict), (FrozenList, list)):
        public = {name for name in vars(plain) if not name.startswith("_")}
        changing = {"__setitem__", "__delitem__"} | (public - reading)
        changing |= {name for name in ("__ior__", "__iadd__", "__imul__") if hasattr(plain, name)}
        assert {name for name in changing if vars(frozen).get(name) is None} == set()


@given(PLAIN)
def test_it_reads_as_what_it_is_made_of(value):
    frozen = freeze(value)
    assert frozen == value
    assert json.dumps(frozen) == json.dumps(value)
    assert freeze(frozen) is frozen
    for made in (thaw(frozen), copy.deepcopy(frozen), pickle.loads(pickle.dumps(frozen))):
        assert is_same(thaw(made), value)
    assert is_same(thaw(frozen), value)


def test_a_shallow_copy_can_be_changed():
    for made in (copy.copy(freeze(MESSAGE)), freeze(MESSAGE).copy(), {**freeze(MESSAGE)}):
        made["role"] = "system"
        assert type(made) is dict
    made = copy.copy(freeze(["a"]))
    made.append("b")
    assert (type(made), made) == (list, ["a", "b"])


@pytest.mark.parametrize("odd", [{1}, bytearray(b"a"), object(), ("a",)])
def test_what_is_not_plain_has_no_such_copy(odd):
    with pytest.raises(NotPlain):
        freeze({"content": [odd]})


def test_many_hold_the_same_one():
    """A payload is copied for a hook; what is read-only in it is not."""
    payload = {"messages": [freeze(MESSAGE)]}
    made = detach(payload)
    assert made["messages"] is not payload["messages"]
    assert made["messages"][0] is payload["messages"][0]


async def test_a_hook_that_returns_a_changed_copy_changes_the_event():
    """And what it left alone is still the very same."""
    hooks = HookRegistry()
    first, second = freeze(MESSAGE), freeze({**MESSAGE, "content": "secret"})

    async def redact(event: str, data: dict[str, Any]) -> HookResult:
        messages = [*data["messages"]]
        messages[1] = {**messages[1], "content": "***"}
        return HookResult(action="modify", data={**data, "messages": messages})

    hooks.register("provider:request", redact)
    left = (await hooks.emit("provider:request", {"messages": [first, second]})).data
    assert left is not None
    assert left["messages"] == [MESSAGE, {**MESSAGE, "content": "***"}]
    assert left["messages"][0] is first


async def test_a_guard_that_changes_it_in_place_fails_closed():
    """What it meant to remove would be sent otherwise."""
    hooks = HookRegistry()

    async def redact(event: str, data: dict[str, Any]) -> HookResult:
        data["messages"][0]["content"] = "***"
        return HookResult(action="continue")

    hooks.register("provider:request", redact, on_error="deny")
    answer = await hooks.emit("provider:request", {"messages": [freeze(MESSAGE)]})
    assert answer.action == "deny"
    assert READ_ONLY in str(answer.reason)
