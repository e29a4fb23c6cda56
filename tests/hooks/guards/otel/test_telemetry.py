"""What each event becomes: spans, span events, metrics."""

from __future__ import annotations

import pytest

from tests.hooks.guards.otel.collector import collector
from tests.hooks.guards.otel.story import story
from tests.support.harness import Harness


async def test_what_was_said_stays_here_unless_asked_for(harness: Harness) -> None:
    """Sensitive content opt-in."""
    with collector() as kept:
        async with harness.mounted("otel", {"endpoint": kept.url}):
            await story(harness)
            await harness.emit("policy:violation", event="tool:pre", hook="guard", reason="secret")
            await harness.emit("approval:required", hook="guard", prompt="secret")
    assert "secret" not in kept.text()
    with collector() as kept:
        config = {"endpoint": kept.url, "capture_content": True, "max_content_length": 100}
        async with harness.mounted("otel", config):
            await story(harness)
    call = next(span for span in kept.spans if span.name == "chat claude-x").attributes
    ran = kept.named("execute_tool Bash").attributes
    assert "secret words" in call["gen_ai.input.messages"]
    assert "secret words" in call["gen_ai.output.messages"]
    assert ran["gen_ai.tool.call.arguments"] == '{"command":"secret"}'
    assert "secret" in ran["gen_ai.tool.call.result"]
    assert all(len(str(value)) <= 100 for value in (*call.values(), *ran.values()))


async def test_a_denied_call_ends_with_the_hooks_name(harness: Harness) -> None:
    """Hook decisions as span events under an own prefix."""
    with collector() as kept:
        async with harness.mounted("otel", {"endpoint": kept.url}):
            await harness.emit("prompt:submit", prompt="x")
            await harness.emit("tool:pre", tool_name="Bash", tool_input={}, tool_call_id="1")
            await harness.emit("policy:violation", event="tool:pre", hook="guard", reason="no")
    ran = kept.named("execute_tool Bash")
    assert ran.status == "ERROR"
    assert ran.attributes["error.type"] == "denied"
    what = {"amplifier.hook.name": "guard", "amplifier.hook.event": "tool:pre"}
    assert ran.events == [("amplifier.hook.denied", what)]
    assert kept.metric("amplifier.hook.denials") == [(what, 1)]


@pytest.mark.parametrize(
    ("event", "span"),
    [
        ("provider:request", "chat m"),
        ("provider:response", "chat m"),
        ("tool:post", "execute_tool T"),
        ("prompt:submit", "invoke_agent amplifier"),
    ],
)
async def test_whatever_is_denied_has_an_end(harness: Harness, event: str, span: str) -> None:
    """A chain that a deny stopped never comes to the hook that closes the span."""
    with collector() as kept:
        async with harness.mounted("otel", {"endpoint": kept.url}):
            await harness.emit("prompt:submit", prompt="x")
            await harness.emit("provider:request", provider="p", model="m", messages=[])
            await harness.emit("tool:pre", tool_name="T", tool_call_id="1")
            await harness.emit("policy:violation", event=event, hook="guard", reason="no")
    found = kept.named(span)
    assert (found.status, found.attributes["error.type"]) == ("ERROR", "denied")


async def test_retries_and_compactions_are_events_of_their_span(harness: Harness) -> None:
    """Happenings under an own prefix, with their figures."""
    with collector() as kept:
        async with harness.mounted("otel", {"endpoint": kept.url}):
            await harness.emit("prompt:submit", prompt="x")
            await harness.emit("context:post_compact", tokens_before=900, tokens_after=100)
            await harness.emit("provider:request", provider="p", model="m", messages=[])
            await harness.emit(
                "provider:retry", attempt=1, delay_ms=50, error={"type": "Overloaded"}
            )
            await harness.emit("provider:response", response={}, usage={})
    assert kept.named("chat m").events == [
        (
            "amplifier.provider.retry",
            {"amplifier.attempt": 1, "amplifier.delay_ms": 50, "error.type": "Overloaded"},
        )
    ]
    assert kept.named("invoke_agent amplifier").events == [
        (
            "amplifier.context.compacted",
            {"amplifier.tokens_before": 900, "amplifier.tokens_after": 100},
        )
    ]


async def test_a_session_that_failed_says_so(harness: Harness) -> None:
    """The reason of session:end is an attribute, and an error where it is one."""
    with collector() as kept:
        async with harness.mounted("otel", {"endpoint": kept.url}):
            await harness.emit("session:start")
            await harness.emit("session:end", reason="timeout")
    span = kept.named("invoke_workflow amplifier session")
    assert (span.status, span.attributes["amplifier.session.reason"]) == ("ERROR", "timeout")


async def test_approvals_are_events_of_the_call_they_gate(harness: Harness) -> None:
    """Approvals as span events under an own prefix."""
    with collector() as kept:
        async with harness.mounted("otel", {"endpoint": kept.url}):
            call = {"tool_name": "Write", "tool_input": {}, "tool_call_id": "1"}
            await harness.emit("tool:pre", **call)
            gate = {"hook": "guard", "prompt": "secret?", "digest": "abc"}
            await harness.emit("approval:required", **gate)
            await harness.emit("approval:granted", **gate, decision="Allow", how="person")
            await harness.emit("tool:post", **call, success=True)
    names = [name for name, _ in kept.named("execute_tool Write").events]
    assert names == ["amplifier.approval.required", "amplifier.approval.granted"]
    assert kept.metric("amplifier.approvals") == [
        ({"amplifier.hook.name": "guard", "amplifier.approval.decision": "granted"}, 1)
    ]


@pytest.mark.parametrize(
    ("event", "span", "error"),
    [
        ("provider:error", "chat m", "RateLimit"),
        ("error:provider", "chat m", "RateLimit"),
        ("tool:error", "execute_tool T", "RateLimit"),
    ],
)
async def test_failures_have_their_type(
    harness: Harness, event: str, span: str, error: str
) -> None:
    """error.type and the status of the span."""
    with collector() as kept:
        async with harness.mounted("otel", {"endpoint": kept.url}):
            await harness.emit("provider:request", provider="p", model="m", messages=[])
            await harness.emit("tool:pre", tool_name="T", tool_call_id="1")
            await harness.emit(
                event, error={"type": "RateLimit", "message": "x"}, tool_name="T", tool_call_id="1"
            )
    found = kept.named(span)
    assert (found.status, found.attributes["error.type"]) == ("ERROR", error)
