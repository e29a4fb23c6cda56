"""Registering: names, order, patterns, spellings, parents, and what is refused."""

# Wrong values are handed in on purpose.
# mypy: disable-error-code="arg-type"

from __future__ import annotations

import logging
import threading

import pytest

from amplifier_core import events
from amplifier_core.dispatch import MAX_DEPTH
from amplifier_core.hooks import HookRegistry, RegistryNames
from amplifier_core.models import CONTINUE, HookResult
from amplifier_core.testing import EventRecorder
from tests.support.hooks import PRE, Data, modifies, says


async def test_registrations_change_while_another_thread_emits():
    """Who looks never sees a change that is half done, and waits for nobody."""
    registry, done = HookRegistry(), threading.Event()

    def churn() -> None:
        number = 0
        while not done.is_set():
            number += 1
            remove = registry.register("tool:*", says(), name="late")
            registry.register(f"made:up_{number}", says(), name=str(number))
            remove()
            registry.unregister(str(number))

    registry.register(PRE, says(), name="always")
    thread = threading.Thread(target=churn)
    thread.start()
    try:
        for _ in range(500):
            run = await registry.dispatch(PRE, {})
            assert "always" in [one.name for one in run.handlers]
            assert registry.list_handlers()[PRE] == ["always"]
    finally:
        done.set()
        thread.join()


async def hook(event: str, data: Data) -> HookResult:
    return HookResult()


@pytest.mark.parametrize("event", [None, 3, ["tool:pre"], b"tool:pre"])
async def test_an_event_is_a_string(event):
    with pytest.raises(TypeError, match="An event name must be a string"):
        await HookRegistry().emit(event, {})


async def test_an_event_has_a_name():
    with pytest.raises(ValueError, match="must not be empty"):
        await HookRegistry().emit("", {})


def test_same_priority_is_registration_order():
    registry = HookRegistry()
    for number in range(20):
        registry.register(PRE, hook, priority=number % 2, name=str(number))
    assert registry.list_handlers(PRE)[PRE] == [
        str(n) for n in [*range(0, 20, 2), *range(1, 20, 2)]
    ]


def test_on_is_the_same_method():
    registry = HookRegistry()
    registry.on(PRE, hook, name="a", priority=5)
    registry.on(event=PRE, priority=1, name="b", handler=hook)
    assert registry.list_handlers() == {PRE: ["b", "a"]}


def test_without_a_handler_it_is_a_decorator():
    """The function stays usable under its own name."""
    registry = HookRegistry()
    assert registry.register(PRE, priority=3, name="x", on_error="deny", timeout=2)(hook) is hook
    [record] = registry.handlers_for(PRE)
    assert (record.priority, record.name, record.on_error, record.timeout) == (3, "x", "deny", 2)
    with pytest.raises(TypeError, match="must be callable, got None"):
        registry.register(PRE)(None)


def test_unregistering_is_idempotent_and_of_that_registration():
    """Idempotent; the unregister callable is of that registration."""
    registry = HookRegistry()
    first = registry.register(PRE, hook, name="same")
    registry.register(PRE, hook, name="same")
    first()
    first()
    assert registry.list_handlers() == {PRE: ["same"]}
    assert registry.unregister("same") == 1
    assert registry.unregister_by_name("same") == 0
    assert registry.list_handlers() == {}


def test_unregistering_by_name_reaches_every_event():
    registry = HookRegistry()
    for event in events.ALL_EVENTS:
        registry.register(event, hook, name="logger")
    assert registry.unregister("logger") == len(events.ALL_EVENTS)


def test_threads_may_register_at_once():
    """Nothing is lost or left."""
    registry = HookRegistry()

    def churn() -> None:
        for _ in range(200):
            registry.register(PRE, hook)()

    threads = [threading.Thread(target=churn) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert registry.list_handlers() == {}


async def test_patterns():
    """A part of an event's name and a star, or the star alone."""
    registry = HookRegistry()
    tool, every, exact = EventRecorder(), EventRecorder(), EventRecorder()
    registry.register("tool:*", tool)
    registry.register("*", every)
    registry.register(PRE, exact)
    for event in (PRE, "tool:post", "session:end"):
        await registry.emit(event, {})
    assert tool.names == [PRE, "tool:post"]
    assert every.names == [PRE, "tool:post", "session:end"]
    assert exact.names == [PRE]
    assert registry.has_listeners("anything:else")
    assert registry.list_handlers(PRE) == {PRE: ["EventRecorder", "EventRecorder", "EventRecorder"]}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("context:pre_compact", "context:pre-compact"),
        ("tool:error", "error:tool"),
        ("provider:error", "error:provider"),
        ("execution:complete", "execution:end"),
    ],
)
async def test_two_spellings_are_one_event(one, other):
    """Whichever is emitted, a hook hears the one it registered for, and a pattern the emitted."""
    for registered, emitted in ((one, other), (other, one), (one, one)):
        registry, seen, pattern = HookRegistry(), EventRecorder(), EventRecorder()
        registry.register(registered, seen)
        registry.register("*", pattern)
        await registry.emit(emitted, {})
        assert seen.names == [registered]
        assert pattern.names == [emitted]


async def test_a_handler_under_both_spellings_runs_once():
    """One occurrence is told once, even to a bound method that is made anew each time."""

    class Module:
        def __init__(self) -> None:
            self.seen = EventRecorder()

        async def failed(self, event: str, data: Data) -> HookResult:
            return await self.seen(event, data)

    registry, module, pattern = HookRegistry(), Module(), EventRecorder()
    registry.register("tool:error", module.failed)
    registry.register("error:tool", module.failed)
    registry.register("error:*", pattern)
    registry.register("*", pattern)
    await registry.emit("tool:error", {})
    assert module.seen.names == ["tool:error"]
    assert len(pattern.names) == 2  # patterns are not deduplicated


async def test_two_registrations_under_one_spelling_are_two():
    registry, seen = HookRegistry(), EventRecorder()
    registry.register("tool:error", seen)
    registry.register("tool:error", seen)
    await registry.emit("error:tool", {})
    assert len(seen.events) == 2


async def test_a_child_runs_its_parents_hooks_live():
    """A hook that the parent gains or loses counts at once; the fields are the child's."""
    parent = HookRegistry()
    child = HookRegistry(parent=parent)
    grandchild = HookRegistry(parent=child)
    seen = EventRecorder()
    parent.set_default_fields(session_id="parent")
    grandchild.set_default_fields(session_id="grandchild")
    assert not grandchild.has_listeners(PRE)
    undo = parent.register(PRE, seen, priority=5, name="late")
    child.register(PRE, hook, priority=1, name="early")
    await grandchild.emit(PRE, {})
    assert seen.events[0][1]["session_id"] == "grandchild"
    assert grandchild.list_handlers() == {PRE: ["early", "late"]}
    undo()
    assert grandchild.list_handlers(PRE) == {PRE: ["early"]}
    assert not parent.has_listeners(PRE)


async def test_listing_a_child_lists_registrations_not_matches():
    parent = HookRegistry()
    child = HookRegistry(parent=parent)
    parent.register("*", hook, name="all")
    child.register(PRE, hook, name="own")
    assert child.list_handlers() == {PRE: ["own"], "*": ["all"]}


async def test_a_listener_is_told_of_every_change():
    """Until it stops listening; a second removal is no change."""
    told = []
    registry = HookRegistry()
    stop = registry.listen(lambda change, record: told.append((change, record.name)))
    undo = registry.register(PRE, hook)
    undo()
    undo()
    stop()
    registry.register(PRE, hook)
    assert told == [("registered", "hook"), ("unregistered", "hook")]


def test_changes_are_logged(caplog):
    registry = HookRegistry()
    with caplog.at_level(logging.DEBUG):
        registry.register("tool:post", hook, name="my_handler")()
    assert caplog.messages == [
        "Registered hook 'my_handler' for event 'tool:post'",
        "Unregistered hook 'my_handler' from event 'tool:post'",
    ]


async def test_moving_changes_the_place_and_nothing_else():
    registry = HookRegistry()
    registry.register(PRE, hook, priority=1, name="a")
    registry.register(PRE, hook, priority=2, name="b")
    first, second = registry.handlers_for(PRE)
    registry.move(second, -1)
    assert registry.handlers_for(PRE) == [second, first]
    with pytest.raises(TypeError, match="priority must be an integer"):
        registry.move(second, 1.5)
    registry.unregister("b")
    with pytest.raises(ValueError, match="is not registered here"):
        registry.move(second, 3)


async def test_made_up_event_names_do_not_fill_the_memory():
    """A module may invent names for ever; nothing is kept of what was emitted."""
    registry = HookRegistry()
    registry.register("*", hook)

    def measure() -> dict[str, int]:
        return {
            key: len(value) for key, value in vars(registry).items() if hasattr(value, "__len__")
        }

    before = measure()
    for number in range(1_000):
        await registry.emit(f"made:up:{number}", {})
    assert measure() == before


async def test_a_guard_gets_data_that_no_other_hook_holds():
    """Neither a hook before it, which may have kept its own, nor another guard."""
    registry, held = HookRegistry(), list[Data]()

    async def keep(event: str, data: Data) -> HookResult:
        held.append(data["tool_input"])
        return HookResult()

    registry.register(PRE, keep)
    registry.register(PRE, keep, on_error="deny")
    registry.register(PRE, keep, on_error="deny")
    await registry.emit(PRE, {"tool_input": {"path": "/a"}})
    assert len({id(one) for one in held}) == 3


async def test_a_change_in_place_reaches_no_other_hook():
    """Also where every hook just goes on."""
    registry, seen = HookRegistry(), EventRecorder()

    async def scribble(event: str, data: Data) -> HookResult:
        data["path"] = "/other"
        return CONTINUE

    registry.register("deploy:start", scribble)
    registry.register("deploy:start", seen.__call__)
    result = await registry.emit("deploy:start", {"path": "/a"})
    assert (seen.events[0][1]["path"], (result.data or {})["path"]) == ("/a", "/a")


async def test_data_that_cannot_be_copied_plainly_are_told_all_the_same():
    """A cycle, or an object of any class."""
    registry, seen = HookRegistry(), EventRecorder()
    registry.register("deploy:start", seen.__call__)
    cycle: Data = {"n": 1}
    cycle["self"] = cycle
    result = await registry.emit("deploy:start", cycle)
    assert (result.action, (result.data or {})["n"]) == ("continue", 1)
    assert seen.events[0][1]["n"] == 1


async def test_collecting_leaves_the_depth_as_it_was():
    """However often; only emits within emits go deeper."""
    registry = HookRegistry()
    registry.register("ask:all", says(data={"a": 1}))
    for _ in range(MAX_DEPTH + 1):
        assert await registry.emit_and_collect("ask:all", {}) == [{"a": 1}]


async def test_a_request_to_a_model_and_what_is_told_of_it_share_an_id():
    """Events of one request carry it; others do not."""
    registry, seen = HookRegistry(), EventRecorder()

    async def listen(event: str, data: Data) -> HookResult:
        return await seen(event, data)

    for event in ("llm:request", "llm:response", "deploy:start"):
        registry.register(event, listen)
        await registry.emit(event, {})
    asked, answered, other = (data.get("request_id") for _, data in seen.events)
    assert asked is not None
    assert answered == asked
    assert other is None


async def test_the_registry_has_the_constants_that_modules_write():
    """Modules write them instead of the texts."""
    assert HookRegistry.CONTEXT_PRE_COMPACT == "context:pre-compact"
    assert HookRegistry.ERROR_TOOL == "error:tool"
    assert HookRegistry.TOOL_PRE == "tool:pre"


async def test_default_fields_are_replaced_and_the_event_wins():
    """The last call counts, and what the event itself says counts more."""
    registry, seen = HookRegistry(), EventRecorder()
    registry.register(PRE, seen)
    registry.set_default_fields(a=1, b=1)
    registry.set_default_fields(b=2, c=2)
    await registry.emit(PRE, {"c": 3})
    data = seen.events[0][1]
    assert {key: data.get(key) for key in "abc"} == {"a": None, "b": 2, "c": 3}
    assert registry.default_fields == {"b": 2, "c": 2}


class TestChangesDuringAnEmit:
    """Who was registered when it began is asked, and nobody else."""

    async def test_removing_oneself_the_next_and_adding(self):
        registry, seen = HookRegistry(), EventRecorder()
        undo: list = []

        async def meddler(event: str, data: Data) -> HookResult:
            for remove in undo:
                remove()
            registry.register(PRE, seen, name="new")
            return HookResult()

        undo.append(registry.register(PRE, meddler))
        undo.append(registry.register(PRE, seen, name="next"))
        await registry.emit(PRE, {})
        assert len(seen.events) == 1
        assert registry.list_handlers() == {PRE: ["new"]}

    async def test_a_guard_that_is_removed_still_runs(self):
        """A hook cannot get rid of a guard in time."""
        registry = HookRegistry()

        async def remover(event: str, data: Data) -> HookResult:
            registry.unregister("guard")
            return HookResult(action="modify", data=data)

        registry.register(PRE, remover)
        registry.register(PRE, says("deny", reason="no"), name="guard", on_error="deny")
        assert (await registry.emit(PRE, {})).action == "deny"
        assert (await registry.emit(PRE, {})).action == "continue"

    async def test_a_modification_reaches_the_handlers_of_the_start(self):
        registry, seen = HookRegistry(), EventRecorder()
        registry.register(PRE, modifies(x=1))
        registry.register(PRE, seen)
        await registry.emit(PRE, {"x": 0})
        assert seen.events[0][1]["x"] == 1


def test_the_registry_has_each_name_of_a_known_event() -> None:
    """`HookRegistry.TOOL_PRE` is `events.TOOL_PRE`; one keeps the specification's spelling."""
    names = {name: value for name, value in vars(RegistryNames).items() if name.isupper()}
    assert len(names) == 16
    for name, value in names.items():
        assert getattr(HookRegistry, name) == value
        assert events.canonical(value) == events.canonical(getattr(events, name))
    assert HookRegistry.CONTEXT_PRE_COMPACT == "context:pre-compact"
