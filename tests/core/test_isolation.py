"""No in-place change leaks at any depth, and what nobody changed keeps its identity."""

# Wrong values are handed in on purpose.
# mypy: disable-error-code="index, list-item"

from __future__ import annotations

import asyncio
import collections
import copy
import math
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.hooks import HookRegistry
from amplifier_core.models import HookResult
from amplifier_core.testing import EventRecorder
from amplifier_core.utils.copying import adopt, copy_any, copy_plain, detach, is_same
from tests.core.odd_values import (
    AlwaysEqual,
    Card,
    Itself,
    Mapping,
    Model,
    Pair,
    Row,
    Rude,
    change,
    cycle,
    nested,
    patient,
    values,
)
from tests.support.hooks import PRE, Data, injects, modifies


def leaked(value: Any) -> bool:  # noqa: C901 - one line for each kind of container
    pending, seen = [value], set()
    while pending:
        item = pending.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, dict):
            pending.extend(dict.values(item))
            if "leak" in dict.keys(item):
                return True
        elif isinstance(item, list | tuple | set | collections.deque):
            base: Any = next(
                b for b in (list, tuple, set, collections.deque) if isinstance(item, b)
            )
            inside = list(base.__iter__(item))
            pending.extend(inside)
            if any(type(one) is str and one == "leak" for one in inside):
                return True
        elif isinstance(item, bytearray):
            if b"leak" in item:
                return True
        elif isinstance(item, Model | Card) and 666 in item.items:
            return True
    return False


PAYLOADS: dict[str, Any] = {
    "plain": lambda: {"a": [1, {"b": {"c": [2]}}], "t": (1, [2]), "s": {1}, "b": bytearray(b"x")},
    "deque": lambda: collections.deque([[1], {"a": 1}], maxlen=9),
    "cycle": cycle,
    "model": lambda: {"in": [Model(items=[1])]},
    "dataclass": lambda: (Card([1]),),
    "named tuple": lambda: Pair([1], {"x": [2]}),
    "ordered": lambda: collections.OrderedDict(a=[1], b={"c": [2]}),
    "default": lambda: collections.defaultdict(list, a=[1]),
    "rude mapping": lambda: Mapping(a=[1], b={}),
    "mapping that copies to itself": lambda: Itself(a=[1]),
    "rude list": lambda: Row([[1], {"a": []}]),
    "always equal": lambda: AlwaysEqual(a=[1]),
    "shared twice": lambda: [[1]] * 3,
    "deep": lambda: nested(3_000),
    "deep lists": lambda: nested(3_000, list),
    "deep tuples": lambda: nested(2_000, tuple),
    "almost too deep": lambda: nested(960),
    "set subclass": lambda: type("Names", (set,), {})({1, 2}),
}


@pytest.mark.parametrize("guard", [False, True])
@pytest.mark.parametrize("kind", PAYLOADS)
async def test_nothing_leaks(kind, guard, caplog):
    """What a hook does to its argument stays with it, unless it answers `modify`."""
    registry = HookRegistry()
    saw: list[bool] = []

    async def meddler(event: str, data: Data) -> HookResult:
        change(data["payload"])
        data["leak"] = True
        return HookResult()

    async def looker(event: str, data: Data) -> HookResult:
        saw.append(leaked(data))
        return HookResult()

    registry.register(PRE, meddler)
    registry.register(PRE, looker)
    registry.register(PRE, meddler, on_error="deny" if guard else "continue")
    registry.register(PRE, looker, on_error="deny")
    given = {"payload": PAYLOADS[kind]()}
    result = await registry.emit(PRE, given)
    assert saw == [False, False]
    assert not leaked(given)
    assert not leaked(result.data)
    assert result.data["payload"] is given["payload"]


@pytest.mark.parametrize("louder", ["inject", "modify", "guard modify", "round trip"])
@pytest.mark.parametrize("kind", PAYLOADS)
async def test_untouched_values_keep_their_identity(kind, louder):
    """Callers may compare with `is`, also after a hook rebuilt the data around them."""

    async def round_trip(event: str, data: Data) -> HookResult:
        return HookResult(action="modify", data={**copy_any(data), "x": 1})

    hooks = {"inject": injects("x"), "round trip": round_trip}
    registry = HookRegistry()
    registry.register(
        PRE,
        hooks.get(louder, modifies(x=1)),
        on_error="deny" if louder.startswith("guard") else "continue",
    )
    given = {"payload": PAYLOADS[kind](), "other": [{"a": 1}], "x": 0}
    result = await registry.emit(PRE, given)
    assert result.data["payload"] is given["payload"]
    assert result.data["other"] is given["other"]
    assert result.data["x"] == (0 if louder == "inject" else 1)


@pytest.mark.parametrize(
    ("before", "after"),
    [(1, True), (0, False), (5, 5.0), (0.0, -0.0), ([1], [True]), ({"a": 1}, {"a": 1.0})],
)
async def test_an_equal_value_of_another_type_is_a_change(before, after):
    """`modify` with the complete new `data` counts."""
    registry = HookRegistry()

    async def hook(event: str, data: Data) -> HookResult:
        data["value"] = after
        return HookResult(action="modify", data=data)

    registry.register(PRE, hook)
    result = await registry.emit(PRE, {"value": before})
    assert repr(result.data["value"]) == repr(after)


async def test_what_a_hook_keeps_is_not_what_runs():
    """Changing it later changes nothing."""
    kept: list[Any] = []

    async def keeper(event: str, data: Data) -> HookResult:
        fresh = {"rows": [[1]], "model": Model(items=[1])}
        kept.extend([data, fresh])
        return HookResult(action="modify", data={**data, **fresh, "odd": Row([[1]])})

    registry = HookRegistry()
    registry.register(PRE, keeper)
    result = await registry.emit(PRE, {"mine": {"a": [1]}})
    for one in kept:
        change(one)
    assert not leaked(result.data)


async def test_an_unchanged_part_of_a_changed_value_is_the_callers():
    registry = HookRegistry()

    async def hook(event: str, data: Data) -> HookResult:
        data["tool_input"]["path"] = "/safe"
        return HookResult(action="modify", data=data)

    registry.register(PRE, hook)
    given = {"tool_input": {"path": "/x", "rows": [[1], [2]]}, "list": [[1], [2]]}
    result = await registry.emit(PRE, given)
    assert result.data["tool_input"]["path"] == "/safe"
    assert result.data["tool_input"]["rows"] is given["tool_input"]["rows"]
    assert given["tool_input"]["path"] == "/x"


async def test_who_changes_in_place_is_told(caplog):
    """It also finds the author who forgot `modify` and tells them."""

    async def forgetful(event: str, data: Data) -> HookResult:
        data["x"] = 2
        return HookResult()

    registry = HookRegistry()
    registry.register(PRE, forgetful)
    await registry.emit(PRE, {"x": 1})
    assert "Hook 'forgetful' on 'tool:pre' changed its data in place" in caplog.text
    assert "Return HookResult(action='modify', data=...)" in caplog.text


async def test_a_hook_that_puts_in_what_cannot_be_compared(caplog):
    async def rude(event: str, data: Data) -> HookResult:
        data["x"] = Rude()
        return HookResult()

    seen = EventRecorder()
    registry = HookRegistry()
    registry.register(PRE, rude)
    registry.register(PRE, lambda event, data: rude(event, data))
    registry.register(PRE, seen)
    result = await registry.emit(PRE, {"x": 1})
    assert (result.action, result.data["x"], seen.events[0][1]["x"]) == ("continue", 1, 1)


ODD = [math.nan, "\ud800", b"\xff", object(), Rude(), len, Ellipsis, frozenset({1}), 10**5000]


@pytest.mark.parametrize("odd", ODD, ids=[type(one).__name__ for one in ODD])
async def test_odd_values_pass_unharmed(odd):
    """What cannot be compared, encoded or printed comes back as it went in."""
    registry = HookRegistry()
    seen = EventRecorder()
    registry.register(PRE, seen)
    registry.register(PRE, seen, on_error="deny")
    registry.register(PRE, modifies(other=1))
    given = {"odd": odd, "in": [odd, {"x": odd}]}
    result = await registry.emit(PRE, given)
    assert result.data["odd"] is odd
    assert result.data["in"] is given["in"]
    assert seen.events[0][1]["odd"] is odd


@pytest.mark.parametrize("count", [100_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
async def test_many_keys_stay_reasonable(count):
    """Size costs time, not safety."""
    given = {"keys": {str(number): number for number in range(count)}}
    registry = HookRegistry()
    registry.register(PRE, EventRecorder())
    registry.register(PRE, modifies(x=1))
    started = time.process_time()
    result = await registry.emit(PRE, given)
    assert result.data["keys"] is given["keys"]
    assert time.process_time() - started < 30


async def test_a_large_string_is_not_copied():
    """Nothing is copied or encoded."""
    text = "x" * 10_000_000
    registry = HookRegistry()
    registry.register(PRE, EventRecorder())
    started = time.process_time()
    for _ in range(100):
        await registry.emit(PRE, {"text": text})
    assert time.process_time() - started < 1


@pytest.mark.parametrize("shape", ["list", "dict"])
async def test_what_a_hook_hands_back_may_be_of_any_depth(shape):
    """It is detached from the hook all the same."""
    deep: Any = [1]
    bottom = deep
    for _ in range(5_000):
        deep = [deep] if shape == "list" else {"a": deep}

    async def hook(event: str, data: Data) -> HookResult:
        return HookResult.model_construct(action="modify", data={**data, "deep": deep})

    registry = HookRegistry()
    registry.register(PRE, hook)
    found = (await registry.emit(PRE, {})).data["deep"]
    bottom.append(2)
    for _ in range(5_000):
        found = found[0] if shape == "list" else found["a"]
    assert found == [1]


def test_a_tuple_of_what_cannot_change_is_shared():
    """Only one with something inside that can is copied."""
    leaves, rows = (1, "a"), ([1],)
    made = copy_plain({"leaves": leaves, "rows": rows})
    assert made["leaves"] is leaves
    assert made["rows"] == rows
    assert made["rows"][0] is not rows[0]


def test_plain_copies_are_only_of_plain_payloads():
    assert copy_plain({"a": Model()}) is None
    assert copy_plain({"a": nested(5_000)}) is None
    assert copy_plain({"a": (1, 2)})["a"] == (1, 2)


@patient
@given(st.dictionaries(st.text(max_size=2), values, max_size=4))
def test_every_copy_is_the_same_and_apart(data):
    for made in (copy_plain(data), copy_any(data), copy.deepcopy(data)):
        assert is_same(made, data)
        kept = copy.deepcopy(data)
        change(made)
        assert is_same(data, kept)


@patient
@given(st.dictionaries(st.text(max_size=2), values, max_size=4), values)
def test_adopting_gives_back_what_was_returned(data, fresh):
    seen = detach(data)
    for key in list(seen)[:1]:
        seen[key] = fresh
    result = adopt(seen, data)
    assert is_same(result, seen)
    for key in list(data)[1:]:
        assert result[key] is data[key] or type(data[key]) not in (dict, list)


async def test_hooks_that_wait_share_nothing_with_the_caller():
    """The caller may go on working with its data."""
    registry = HookRegistry()
    started, go = asyncio.Event(), asyncio.Event()

    async def waiting(event: str, data: Data) -> HookResult:
        started.set()
        await go.wait()
        return HookResult(action="deny", reason=data["path"])

    registry.register(PRE, waiting)
    given = {"path": "/safe"}
    task = asyncio.ensure_future(registry.emit(PRE, given))
    await started.wait()
    given["path"] = "/etc/passwd"
    go.set()
    assert (await task).reason == "/safe"
