"""What a hook did, counted."""

# Wrong values are handed in on purpose.
# mypy: disable-error-code="arg-type, call-overload"

from __future__ import annotations

import asyncio
import functools
import types

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.hook_counts import HookCounts
from amplifier_core.hooks import HookRegistry
from amplifier_core.models import CONTINUE, HookResult
from tests.support.harness import Harness
from tests.support.hooks import PRE, asks, injects, modifies, raises, returns, says


def test_a_new_one_has_done_nothing():
    """And its figures can be told."""
    told = HookCounts().to_dict()
    assert told["calls"] == 0
    assert told["answers"] == {"continue": 0}
    assert told["p50_ms"] is told["p99_ms"] is None
    assert set(told["approvals"].values()) == {0}


def test_answers_are_told_by_action_and_the_rest_are_continues():
    """What had no effect is counted apart."""
    counts = HookCounts()
    counts.calls = 6
    counts.count_answer("deny", shadowed=False, unheeded=False)
    counts.count_answer("deny", shadowed=False, unheeded=False)
    counts.count_answer("modify", shadowed=False, unheeded=True)
    counts.count_answer("ask_user", shadowed=True, unheeded=True)
    told = counts.to_dict()
    assert told["answers"] == {"continue": 4, "deny": 2}
    assert (told["unheeded"], told["shadowed"]) == (1, {"ask_user": 1})


@pytest.mark.parametrize(
    ("allowed", "how", "figure"),
    [
        (True, "person", {"allowed": 1, "overruled": 1}),
        (True, "rule", {"allowed": 1}),
        (False, "person", {"refused": 1}),
        (False, "nobody", {"refused": 1}),
        (False, "timeout", {"expired": 1}),
        (True, "timeout", {"expired": 1}),
    ],
)
def test_a_decision_is_counted_once(allowed, how, figure):
    """What a person allowed was a false alarm; what a rule allowed nobody overruled."""
    counts = HookCounts()
    counts.count_decision(allowed, how)
    assert {name: n for name, n in counts.to_dict()["approvals"].items() if n} == figure


def test_a_failure_may_be_a_time_out():
    """Which is counted as both."""
    counts = HookCounts()
    counts.count_failure(timed_out=False)
    counts.count_failure(timed_out=True)
    assert (counts.failures, counts.timeouts) == (2, 1)


@given(st.lists(st.floats(min_value=0, max_value=1000), min_size=1, max_size=60))
def test_a_quantile_is_right_to_a_few_of_a_hundred(times):
    """Compared with the times themselves, which trails have in microseconds."""
    counts = HookCounts()
    for seconds in times:
        counts.count_time(seconds)
    ordered = sorted(times)
    for share in (0.5, 0.95, 0.99):
        found = counts.find_quantile(share)
        place = next(i for i in range(len(ordered)) if i + 1 >= share * len(ordered))
        assert found == pytest.approx(ordered[place] * 1000, rel=0.04, abs=6e-4)


figures = st.builds(
    lambda calls, denials, shadows: _make(calls, denials, shadows),
    st.lists(st.floats(0, 1), max_size=5),
    st.integers(0, 3),
    st.integers(0, 3),
)


def _make(calls, denials, shadows):
    counts = HookCounts()
    counts.calls = len(calls)
    for seconds in calls:
        counts.count_time(seconds)
    for _ in range(denials):
        counts.count_answer("deny", shadowed=False, unheeded=False)
    for _ in range(shadows):
        counts.count_answer("deny", shadowed=True, unheeded=False)
    counts.injected_tokens = denials
    return counts


@given(figures, figures)
def test_the_figures_of_two_are_the_sum_of_each(one, other):
    """In either order; neither of them is changed."""
    before = other.to_dict()
    both, swapped = HookCounts().add(one).add(other), HookCounts().add(other).add(one)
    assert both.to_dict() == swapped.to_dict()
    assert both.calls == one.calls + other.calls
    assert both.answers.get("deny", 0) == one.answers.get("deny", 0) + other.answers.get("deny", 0)
    assert sum(both.times.values()) == sum(one.times.values()) + sum(other.times.values())
    assert other.to_dict() == before


def test_a_short_table_has_the_figures_of_the_long_one():
    """By the names that machines read; a hook that nobody called has none."""
    counts = HookCounts()
    assert not counts.is_used
    counts.calls += 1
    counts.asked += 1
    counts.count_answer("deny", shadowed=False, unheeded=False)
    counts.count_failure(timed_out=False)
    counts.count_time(0.001)
    assert counts.is_used
    short, long = counts.summarize(), counts.to_dict()
    assert (short["denials"], short["asks"], short["errors"], short["injections"]) == (1, 1, 1, 0)
    assert all(short[name] == long[name] for name in ("calls", "p50_ms", "p95_ms", "p99_ms"))


def told(registry):
    """The calls and the answers that were more than a continue, by hook."""
    found = registry.count()
    return {name: (one.calls, dict(one.answers)) for name, one in sorted(found.items())}


async def quiet(event, data):
    return CONTINUE


async def test_quiet_hooks_are_counted():
    """Also when a registration changes meanwhile, and for a hook that is gone."""
    registry = HookRegistry()
    registry.register(PRE, quiet, name="first")
    for _ in range(5):
        await registry.emit(PRE, {})
    remove = registry.register(PRE, quiet, name="second")
    for _ in range(3):
        await registry.emit(PRE, {})
    remove()
    await registry.emit(PRE, {})
    assert told(registry) == {"first": (9, {}), "second": (3, {})}
    assert told(registry) == {"first": (9, {}), "second": (3, {})}, "counting changes nothing"


@pytest.mark.parametrize(
    ("hook", "answers", "failures", "reached"),
    [
        (says("deny", reason="no"), {"deny": 1}, 0, False),
        (asks(), {"ask_user": 1}, 0, True),
        (injects("hello"), {"inject_context": 1}, 0, True),
        (modifies(a=1), {"modify": 1}, 0, True),
        (raises(OSError("no")), {}, 1, True),
        (returns(42), {}, 1, True),
        (returns(None), {}, 0, True),
        (says(user_message="hello"), {}, 0, True),
    ],
)
async def test_every_answer_is_counted_once(hook, answers, failures, reached):
    """The hooks before and behind it, too."""
    registry = HookRegistry()
    for name, one in (("before", quiet), ("it", hook), ("behind", quiet)):
        registry.register(PRE, one, name=name)
    await registry.emit(PRE, {})
    found = registry.count()
    assert told(registry) == {"before": (1, {}), "behind": (int(reached), {}), "it": (1, answers)}
    assert found["it"].failures == failures


async def test_calls_at_once_are_all_counted():
    """Whatever the order in which they end."""
    registry = HookRegistry()

    async def slow(event, data):
        await asyncio.sleep(0)
        return HookResult(action="deny", reason="no") if data["n"] % 3 == 0 else CONTINUE

    registry.register(PRE, slow, name="slow")
    registry.register(PRE, quiet, name="quiet")
    await asyncio.gather(*(registry.emit(PRE, {"n": n}) for n in range(90)))
    assert told(registry) == {"quiet": (60, {}), "slow": (90, {"deny": 30})}


async def test_a_parent_counts_what_its_hooks_did_in_children():
    """And a child what its own did."""
    parent = HookRegistry()
    parent.register(PRE, quiet, name="theirs")
    child = HookRegistry(parent)
    child.register(PRE, quiet, name="own")
    await child.emit(PRE, {})
    await parent.emit(PRE, {})
    assert told(parent) == {"theirs": (2, {})}
    assert told(child) == {"own": (1, {})}


async def test_replies_that_are_collected_are_calls():
    """One for each hook; a failure is one."""
    registry = HookRegistry()
    registry.register("ask:all", returns(HookResult(data={"a": 1})), name="answers")
    registry.register("ask:all", raises(OSError("no")), name="fails")
    assert await registry.emit_and_collect("ask:all", {}) == [{"a": 1}]
    assert told(registry) == {"answers": (1, {}), "fails": (1, {})}
    assert registry.count()["fails"].failures == 1


@pytest.mark.parametrize("more", [{}, {"timeout": 5.0}, {"parallel": True}, {"on_error": "deny"}])
async def test_every_call_is_timed(more):
    """Whatever kind of hook it is."""
    registry = HookRegistry()
    registry.register(PRE, quiet, name="quiet", **more)
    for _ in range(20):
        await registry.emit(PRE, {})
    counts = registry.count()["quiet"]
    assert (counts.calls, sum(counts.times.values())) == (20, 20)
    assert counts.find_quantile(0.5) is not None


@pytest.mark.parametrize("guard", [False, True])
@pytest.mark.parametrize(
    "hook",
    [says("deny", reason="no"), asks(), injects("text"), modifies(a=2), raises(OSError("no"))],
)
async def test_what_a_hook_in_shadow_says_has_no_effect(hook, guard):
    """Not on the operation, not on other hooks, and not on what is collected."""
    registry = HookRegistry()
    on_error = "deny" if guard else "continue"
    registry.register(PRE, hook, name="shadow", on_error=on_error)
    seen = []

    async def look(event, data):
        seen.append(data["a"])
        return CONTINUE

    registry.register(PRE, look, name="behind")
    (record, _) = registry.handlers_for(PRE)
    record.shadow = True
    result = await registry.emit(PRE, {"a": 1})
    assert (result.action, result.data["a"], seen) == ("continue", 1, [1])
    assert await registry.emit_and_collect(PRE, {"a": 1}) == []
    counts = registry.count()["shadow"]
    assert counts.answers == {}
    assert sum(counts.shadowed.values()) + counts.failures >= 1


async def test_what_a_hook_in_shadow_would_have_done_is_recorded_and_not_shown():
    """Nobody is bothered by a hook that is only being tried."""
    harness = Harness()
    harness.hooks.register(PRE, says("deny", reason="no"), name="shadow", on_error="deny")
    harness.hooks.register(PRE, asks(), name="asks too")
    for record in harness.hooks.handlers_for(PRE):
        record.shadow = True
    assert (await harness.pre()).action == "continue"
    told = [(one["hook"], one["body"]["would"]) for one in harness.trail.of_type("shadowed")]
    assert told == [
        ("shadow", "would have denied the call: no"),
        ("asks too", "would have asked about the call: Go on?"),
    ]
    (dispatch,) = harness.bodies("dispatch")
    assert [(one["action"], one["shadowed"]) for one in dispatch["hooks"]] == [
        ("continue", "deny"),
        ("continue", "ask_user"),
    ]
    assert harness.screen.messages == []


async def test_a_guard_in_shadow_that_fails_denies_nothing_and_this_is_said():
    """The failure is recorded as one that did not deny."""
    harness = Harness()
    harness.hooks.register(PRE, raises(OSError("gone")), name="shadow", on_error="deny")
    harness.hooks.handlers_for(PRE)[0].shadow = True
    assert (await harness.pre()).action == "continue"
    (failed,) = harness.bodies("hook_failed")
    assert failed["denied"] is False
    assert harness.hooks.count()["shadow"].failures == 1


BOUND_PARTIAL = types.MethodType(functools.partial(lambda mine, event, data: CONTINUE), 1)


@pytest.mark.parametrize("handler", [lambda event, data: CONTINUE, returns(None), BOUND_PARTIAL])
async def test_a_handler_that_cannot_be_awaited_is_none_the_worse(handler):
    """It answers at once; nothing fails and nothing is lost."""
    registry = HookRegistry()
    registry.register(PRE, handler, name="it")
    for _ in range(20):
        assert (await registry.emit(PRE, {})).action == "continue"
    assert registry.count()["it"].failures == 0
    assert told(registry) == {"it": (20, {})}


@pytest.mark.parametrize("way", ["emit", "dispatch", "emit in a child"])
async def test_a_run_that_had_begun_when_a_registration_changed_is_counted(way):
    """With the hooks that it began with."""
    registry = HookRegistry()
    going_on = asyncio.Event()

    async def waits(event, data):
        await going_on.wait()
        return CONTINUE

    registry.register(PRE, waits, name="waits")
    runner = HookRegistry(registry) if "child" in way else registry
    run = asyncio.create_task(getattr(runner, way.split()[0])(PRE, {}))
    await asyncio.sleep(0)
    registry.register(PRE, quiet, name="late")
    going_on.set()
    await run
    assert told(registry) == {"late": (0, {}), "waits": (1, {})}
