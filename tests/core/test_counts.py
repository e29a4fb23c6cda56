"""What hooks did, counted."""

# Hooks that return anything are registered on purpose.
# mypy: disable-error-code="arg-type, call-overload"

import asyncio
import functools
import types

import pytest

from amplifier_core.hooks import HookRegistry
from amplifier_core.models import CONTINUE, HookResult
from tests.support.harness import Harness
from tests.support.hooks import PRE, asks, injects, modifies, raises, returns, says


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
