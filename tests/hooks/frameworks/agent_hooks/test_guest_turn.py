"""One session of a host behind our hooks: each point as the event that it is here."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("agent_hooks")

from amplifier_core import HookRegistry, HookResult
from amplifier_core.testing import EventRecorder, MemoryAudit
from amplifier_hooks.frameworks.agent_hooks import AmplifierInterceptor
from amplifier_hooks.frameworks.agent_hooks.translation import CHANGED_AND_ASKED
from tests.hooks.frameworks.agent_hooks.reference_host import (
    WRITE,
    Resolver,
    make_scenario,
    run_reference,
)
from tests.support.hooks import asks, injects, raises, says


def changes(key: str, value: Any) -> Any:
    """A hook that changes one field."""

    async def hook(_: str, data: dict[str, Any]) -> HookResult:
        changed = value(data[key]) if callable(value) else value
        return HookResult(action="modify", data={**data, key: changed})

    return hook


def make(event: str, *hooks: Any) -> AmplifierInterceptor:
    registry = HookRegistry()
    for number, hook in enumerate(hooks):
        registry.register(event, hook, name=f"hook{number}")
    return AmplifierInterceptor(registry)


async def test_every_point_is_the_event_that_it_is_here() -> None:
    """With the data that our hooks know."""
    heard = EventRecorder()
    await run_reference(make("*", heard))
    told = [(name, data) for name, data in heard.events if not name.startswith("session:")]
    assert [name for name, _ in told] == [
        "prompt:submit",
        "provider:request",
        "provider:response",
        "tool:pre",
        "tool:post",
        "provider:request",
        "provider:response",
        "prompt:answer",
        "prompt:complete",
    ]
    data = dict(reversed(told))
    assert data["prompt:submit"]["prompt"] == "go"
    assert data["tool:pre"]["tool_input"] == WRITE
    assert data["tool:post"]["tool_result"]["output"] == "the PIN is 4711"
    assert data["provider:response"]["response"]["tool_calls"][0]["name"] == "write"
    assert data["prompt:answer"]["response"] == "done"


@pytest.mark.parametrize(
    ("event", "key", "value", "point", "path"),
    [
        ("prompt:submit", "prompt", "better", "input", "$target.content"),
        ("tool:pre", "tool_input", {**WRITE, "text": "y"}, "pre_tool_call", "$target.text"),
        (
            "tool:post",
            "tool_result",
            lambda found: {**found, "output": "hidden"},
            "post_tool_call",
            "$target",
        ),
        ("prompt:answer", "response", "changed", "output", "$target.content"),
        (
            "provider:response",
            "response",
            lambda found: {**found, "tool_calls": []},
            "post_model_call",
            "$target.tool_calls",
        ),
        (
            "provider:response",
            "response",
            lambda found: {**found, "content": [{"type": "text", "text": "changed"}]},
            "post_model_call",
            "$target.content",
        ),
        (
            "provider:request",
            "messages",
            lambda found: [{**found[0], "content": "other"}, *found[1:]],
            "pre_model_call",
            "$target[0].content",
        ),
    ],
)
async def test_what_a_hook_changes_is_the_smallest_rewrite(
    event: str, key: str, value: Any, point: str, path: str
) -> None:
    """Of what is at that point, and of nothing else."""
    _, watched = await run_reference(make(event, changes(key, value)))
    transform = watched.at(point)[0].transform
    assert transform is not None
    assert transform.path == path


@pytest.mark.parametrize(
    ("event", "point"),
    [
        ("prompt:submit", "input"),
        ("provider:request", "pre_model_call"),
        ("provider:response", "post_model_call"),
        ("tool:pre", "pre_tool_call"),
        ("tool:post", "post_tool_call"),
        ("prompt:answer", "output"),
    ],
)
async def test_at_each_point_a_hook_may_deny_ask_or_fail(event: str, point: str) -> None:
    """A guard that fails denies, and what it raised is not told."""
    _, watched = await run_reference(make(event, says("deny", reason="no")))
    assert (watched.at(point)[0].message, watched.at(point)[0].is_liftable) == ("no", False)
    _, watched = await run_reference(make(event, asks("May it?")))
    assert (watched.at(point)[0].message, watched.at(point)[0].is_liftable) == ("May it?", True)
    registry = HookRegistry()
    registry.register(event, raises(RuntimeError("a secret")), name="guard", on_error="deny")
    _, watched = await run_reference(AmplifierInterceptor(registry))
    assert watched.at(point)[0].message == "hook 'guard' failed"


async def test_every_gate_is_asked_before_the_host_may_lift_the_denial() -> None:
    """One yes for one of two questions would be a yes to what nobody was asked."""
    resolver = Resolver()
    await run_reference(make("tool:pre", asks("One?"), asks("Two?")), resolver=resolver)
    assert [one.verdict.message for one in resolver.requests] == ["One?; Two?"]


async def test_what_was_changed_and_is_asked_about_is_denied() -> None:
    """Lifted, it would run as it was before the change."""
    resolver = Resolver()
    changed = changes("tool_input", {"path": "other"})
    record, watched = await run_reference(
        make("tool:pre", changed, asks("May it?")), resolver=resolver
    )
    assert (record.tool_invocations, resolver.requests) == ([], [])
    assert watched.at("pre_tool_call")[0].message == CHANGED_AND_ASKED


async def test_another_tool_cannot_be_chosen() -> None:
    """The host would run the one that it has."""
    record, watched = await run_reference(make("tool:pre", changes("tool_name", "other")))
    assert record.tool_invocations == []
    assert "another tool" in (watched.at("pre_tool_call")[0].message or "")


async def test_what_a_hook_left_that_is_no_text_denies() -> None:
    """As in a session of our own."""
    _, watched = await run_reference(make("prompt:answer", changes("response", 7)))
    assert watched.at("output")[0].message == "a hook left no usable response: int"


@pytest.mark.parametrize("event", ["prompt:submit", "tool:post", "provider:request"])
async def test_what_is_injected_is_in_the_next_request_and_those_after_it(event: str) -> None:
    """Once, also where the host keeps the rewritten messages."""
    _, watched = await run_reference(make(event, injects("mind the gap")))
    last = watched.at("pre_model_call")[-1].transform
    requests = [one for one in watched.contexts if one["interception_point"] == "pre_model_call"]
    kept = str(requests[-1]["messages"]) + ("" if last is None else str(last.value))
    assert "mind the gap" in kept
    if event == "prompt:submit":
        assert str(requests[-1]["messages"]).count("mind the gap") == 1
        assert last is None


async def test_what_is_injected_for_one_request_is_in_that_one_alone() -> None:
    """The next time it is asked for again, if at all."""
    _, watched = await run_reference(make("prompt:submit", injects("now only", ephemeral=True)))
    first, second = (one.transform for one in watched.at("pre_model_call"))
    assert first is not None
    assert "now only" in str(first.value)
    assert second is None


async def test_a_call_is_on_record_from_its_start_to_its_end() -> None:
    """With what it was called with and what it returned, as digests."""
    audit = MemoryAudit()
    await run_reference(AmplifierInterceptor(HookRegistry(), audit=audit))
    (started,), (finished,) = audit.of_type("tool_started"), audit.of_type("tool_finished")
    assert started["body"]["id"] == finished["body"]["id"] == "c1"
    assert finished["body"]["outcome"] == "returned"


async def test_a_trail_that_takes_no_records_stops_what_had_to_be_on_it() -> None:
    """A gated call must be on disk before it runs."""
    audit = MemoryAudit()
    registry = HookRegistry()
    registry.register("tool:pre", asks("May it?"))
    audit.fail()
    record, _ = await run_reference(AmplifierInterceptor(registry, audit=audit), make_scenario())
    assert record.tool_invocations == []
