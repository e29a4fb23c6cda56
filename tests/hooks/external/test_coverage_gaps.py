"""Saying which hooks will not be called in front of a framework."""

from __future__ import annotations

from amplifier_core.testing import EventRecorder, TestCoordinator
from amplifier_hooks.coverage import ALL, Coverage
from amplifier_hooks.external.coverage_gaps import report_uncovered_hooks

TABLE = Coverage(
    name="x",
    framework="X",
    package="x",
    module="x",
    attach="x",
    events={"tool:pre": ALL},
    unseen=(),
    limits={"provider:request": "its models are its own"},
)


async def test_each_hook_that_waits_in_vain_is_named() -> None:
    """On the screen and in the trail, with the reason; who listens to everything is not."""
    coordinator = TestCoordinator()
    coordinator.hooks.register("tool:pre", EventRecorder(), name="a")
    await report_uncovered_hooks(coordinator, TABLE)
    assert coordinator.screen.messages == []
    for event, name in (("provider:request", "b"), ("*", "c")):
        coordinator.hooks.register(event, EventRecorder(), name=name)
    await report_uncovered_hooks(coordinator, TABLE)
    ((text, level, source),) = coordinator.screen.messages
    assert (level, source) == ("warning", "session")
    assert text.endswith("provider:request (its models are its own): b")
    (record,) = coordinator.recorded.of_type("error")
    assert record["body"]["error"] == text
