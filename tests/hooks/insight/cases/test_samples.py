"""Sample events."""

from __future__ import annotations

from amplifier_core import HookRegistry
from amplifier_core.events import ALL_EVENTS, canonical
from amplifier_hooks.insight.cases.samples import list_heard, make_samples


async def _ignore(event, data): ...


def test_the_events_that_hooks_listen_to_come_in_the_order_of_a_session() -> None:
    """Each by one name, then those of modules; a pattern stands for all that it matches."""
    hooks = HookRegistry()
    for event in ("deploy:done", "tool:post", "error:tool", "prompt:*"):
        hooks.register(event, _ignore)
    prompts = ["prompt:submit", "prompt:answer", "prompt:complete"]
    expected = [prompts[0], "tool:post", "tool:error", *prompts[1:], "deploy:done"]
    assert list_heard(hooks) == expected
    hooks.register("*", _ignore)
    assert len(list_heard(hooks)) == len({canonical(one) for one in ALL_EVENTS}) + 1


def test_events_that_hooks_decide_on_are_varied() -> None:
    """The others come once; no two samples of an event have the same name."""
    samples = make_samples(["tool:pre", "tool:post", "tool:error", "prompt:submit", "session:end"])
    names = [(one.steps[0].event, one.name) for one in samples]
    assert len(names) == len(set(names))
    counts = {event: sum(one == event for one, _ in names) for event, _ in names}
    assert counts["tool:pre"] > 10
    assert counts["tool:post"] > 4
    assert counts["prompt:submit"] > 2
    assert counts["session:end"] == 1
    assert all(one.steps[0].expect is None for one in samples)
    assert make_samples(["deploy:done"]) == []
