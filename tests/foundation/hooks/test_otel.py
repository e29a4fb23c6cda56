"""hooks-otel: spans and metrics with the GenAI names, checked by a collector that decodes them."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_core.events import ALL_EVENTS
from amplifier_foundation.hooks.otel import mount
from tests.foundation.hooks.otlp_collector import Collector, Span, collector
from tests.support.harness import Harness

USAGE = {"input_tokens": 100, "output_tokens": 20, "cache_read_tokens": 60, "cache_write_tokens": 5}
RESPONSE = {"model": "claude-x-2", "finish_reason": "tool_use", "text": "secret words"}


@pytest.fixture
def harness(tmp_path: Path) -> Harness:
    return Harness(tmp_path)


async def chat(harness: Harness, **more: Any) -> None:
    who = {"provider": "provider-anthropic", "model": "claude-x", **more}
    await harness.emit("provider:request", messages=[{"content": "secret words"}], **who)
    await harness.emit("provider:response", response=RESPONSE, usage=USAGE, duration_ms=5, **who)


async def tool(harness: Harness, name: str, call_id: str, **more: Any) -> None:
    call = {"tool_name": name, "tool_input": {"command": "secret"}, "tool_call_id": call_id, **more}
    await harness.emit("tool:pre", **call)
    result = {"success": True, "output": "secret"}
    await harness.emit("tool:post", **call, tool_result=result, success=True, duration_ms=3)


async def story(harness: Harness) -> None:
    """One turn: the model calls a tool and then answers."""
    await harness.emit("session:start", mount_plan={}, source="startup")
    await harness.emit("prompt:submit", prompt="secret words")
    await chat(harness)
    await tool(harness, "Bash", "call-1")
    await chat(harness)
    await harness.emit("orchestrator:complete", status="success", turn_count=2, duration_ms=9)
    await harness.emit("session:end", reason="complete")


def tree(spans: list[Span]) -> set[tuple[str, str]]:
    """Each span's name with its parent's."""
    by_id = {span.span_id: span.name for span in spans}
    return {(span.name, by_id.get(span.parent_id, "")) for span in spans}


async def test_the_tree_is_session_turn_chat_and_tool(harness: Harness) -> None:
    """Span tree session → turn → chat / execute_tool."""
    with collector() as kept:
        async with harness.mounted("otel", {"endpoint": kept.url, "agent_name": "helper"}):
            await story(harness)
    assert tree(kept.spans) == {
        ("invoke_workflow helper session", ""),
        ("invoke_agent helper", "invoke_workflow helper session"),
        ("chat claude-x", "invoke_agent helper"),
        ("execute_tool Bash", "invoke_agent helper"),
    }
    assert len(kept.spans) == 5
    assert len({span.trace_id for span in kept.spans}) == 1
    assert {span.attributes["gen_ai.conversation.id"] for span in kept.spans} == {"test-session"}
    assert {span.status for span in kept.spans} == {"UNSET"}
    assert kept.services == {"amplifier"}


async def test_spans_bear_the_names_of_the_conventions(harness: Harness) -> None:
    """OpenTelemetry spans with the GenAI names."""
    with collector() as kept:
        async with harness.mounted("otel", {"endpoint": kept.url}):
            await story(harness)
    call = next(span for span in kept.spans if span.name == "chat claude-x")
    assert call.kind == "CLIENT"
    assert call.attributes == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.request.model": "claude-x",
        "gen_ai.conversation.id": "test-session",
        "gen_ai.response.model": "claude-x-2",
        "gen_ai.response.finish_reasons": ["tool_use"],
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 20,
        "gen_ai.usage.cache_read.input_tokens": 60,
        "gen_ai.usage.cache_creation.input_tokens": 5,
    }
    ran = kept.named("execute_tool Bash")
    assert ran.kind == "INTERNAL"
    assert ran.attributes == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "Bash",
        "gen_ai.tool.call.id": "call-1",
        "gen_ai.tool.type": "function",
        "gen_ai.conversation.id": "test-session",
    }
    assert kept.named("invoke_agent amplifier").attributes["amplifier.turn.status"] == "success"


async def test_metrics_bear_the_names_of_the_conventions(harness: Harness) -> None:
    """OpenTelemetry metrics with the GenAI names."""
    with collector() as kept:
        async with harness.mounted("otel", {"endpoint": kept.url}):
            await story(harness)
    shared = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.request.model": "claude-x",
    }
    tokens = {
        point[0]["gen_ai.token.type"]: point for point in kept.metric("gen_ai.client.token.usage")
    }
    assert tokens["input"] == ({**shared, "gen_ai.token.type": "input"}, 200)
    assert tokens["output"] == ({**shared, "gen_ai.token.type": "output"}, 40)
    ((attributes, seconds),) = kept.metric("gen_ai.client.operation.duration")
    assert attributes == shared
    assert 0 < seconds < 10
    assert kept.metric("amplifier.tool.duration")[0][0] == {"gen_ai.tool.name": "Bash"}


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


async def test_parallel_calls_are_not_confused(harness: Harness) -> None:
    """Of two calls at once, the one that was denied has the error."""

    async def one(name: str, denied: bool) -> None:
        await harness.emit("tool:pre", tool_name=name, tool_input={}, tool_call_id=name)
        await asyncio.sleep(0.02)
        if denied:
            await harness.emit("policy:violation", event="tool:pre", hook="guard", reason="no")
        else:
            await harness.emit("tool:post", tool_name=name, tool_call_id=name, success=True)

    with collector() as kept:
        async with harness.mounted("otel", {"endpoint": kept.url}):
            await asyncio.gather(one("First", True), one("Second", False), one("Third", False))
    assert {span.name: span.status for span in kept.spans if "execute_tool" in span.name} == {
        "execute_tool First": "ERROR",
        "execute_tool Second": "UNSET",
        "execute_tool Third": "UNSET",
    }


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


async def test_a_sub_agent_hangs_below_the_call_that_started_it(harness: Harness) -> None:
    """One trace for a session and its sub-agents."""
    child = {"session_id": "child", "parent_id": "test-session"}
    with collector() as kept:
        async with harness.mounted("otel", {"endpoint": kept.url}):
            await harness.emit("session:start")
            await harness.emit("prompt:submit", prompt="x")
            call = {"tool_name": "Delegate", "tool_input": {}, "tool_call_id": "1"}
            await harness.emit("tool:pre", **call)
            await harness.emit("agent:spawn", agent_name="finder", parent_session_id="test-session")
            await harness.emit("session:start", **child)
            await harness.emit("prompt:submit", prompt="find", **child)
            await chat(harness, **child)
            await harness.emit("orchestrator:complete", status="success", **child)
            await harness.emit("session:end", reason="complete", **child)
            await harness.emit("tool:post", **call, success=True)
            await harness.emit("orchestrator:complete", status="success")
    assert ("invoke_agent finder", "execute_tool Delegate") in tree(kept.spans)
    assert ("chat claude-x", "invoke_agent finder") in tree(kept.spans)
    assert len({span.trace_id for span in kept.spans}) == 1


@pytest.mark.parametrize("order", [1, -1])
async def test_missing_and_repeated_events_leave_no_span_open(harness: Harness, order: int) -> None:
    """Whatever order events come in, every span ends and none is lost."""
    with collector() as kept:
        async with harness.mounted("otel", {"endpoint": kept.url}):
            for event in [*ALL_EVENTS[::order], *ALL_EVENTS[::order]]:
                await harness.emit(event, tool_name="T", provider="p", model="m")
    opened = {span.span_id for span in kept.spans}
    assert all(span.parent_id in opened for span in kept.spans if span.parent_id)
    assert any(span.name == "execute_tool T" for span in kept.spans)


async def test_sessions_share_a_pipeline_and_keep_their_traces_apart(tmp_path: Path) -> None:
    """Many sessions at once: no cross-talk."""

    async def session(number: int, kept: Collector) -> None:
        async with Harness(tmp_path, session_id=f"s{number}").mounted(
            "otel", {"endpoint": kept.url}
        ) as harness:
            await story(harness)

    with collector() as kept:
        await asyncio.gather(*(session(number, kept) for number in range(20)))
    traces = {(span.trace_id, span.attributes["gen_ai.conversation.id"]) for span in kept.spans}
    assert len(traces) == len({trace for trace, _ in traces}) == 20
    assert len(kept.spans) == 100


async def test_a_collector_that_is_down_or_hangs_harms_nobody(harness: Harness) -> None:
    """Observers never slow or crash the agent."""
    started = time.monotonic()
    async with harness.mounted("otel", {"endpoint": "http://127.0.0.1:9", "timeout": 0.3}):
        before = time.monotonic()
        await story(harness)
        assert time.monotonic() - before < 0.9
    assert time.monotonic() - started < 15
    with collector(delay=1) as kept:
        config = {"endpoint": kept.url, "timeout": 0.2, "interval": 0.05}
        async with harness.mounted("otel", config):
            before = time.monotonic()
            await story(harness)
            assert time.monotonic() - before < 0.9


async def test_headers_go_to_the_collector(harness: Harness) -> None:
    """Hosted collectors want a key."""
    with collector() as kept:
        async with harness.mounted("otel", {"endpoint": kept.url, "headers": {"x-key": "k1"}}):
            await story(harness)
    assert {headers.get("x-key") for headers in kept.headers} == {"k1"}


def test_without_an_endpoint_the_programs_own_provider_is_used(tmp_path: Path) -> None:
    """A program that has set up OpenTelemetry gets our spans; one that has not pays nothing."""
    program = """
import asyncio, pathlib
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from tests.support.harness import Harness
from tests.foundation.hooks.test_otel import story
kept = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(kept))
trace.set_tracer_provider(provider)
async def main():
    async with Harness(pathlib.Path(".")).mounted("otel") as bench:
        await story(bench)
asyncio.run(main())
print(sorted({span.name for span in kept.get_finished_spans()}))
"""
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=50, check=True
    )
    assert "'chat claude-x', 'execute_tool Bash', 'invoke_agent amplifier'" in ran.stdout


def test_the_sdk_is_imported_only_when_mounted() -> None:
    """No heavy import at module top level."""
    program = "import sys, amplifier_foundation.hooks.otel; print('opentelemetry' in sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=50, check=True
    )
    assert ran.stdout.strip() == "False"


def test_without_the_extra_the_error_says_what_to_install(tmp_path: Path) -> None:
    """An extra that is missing is named."""
    program = """
import asyncio, pathlib, sys
sys.modules["opentelemetry.trace"] = None
from amplifier_foundation.hooks.otel import mount
from tests.support.harness import Harness
try:
    asyncio.run(mount(Harness(pathlib.Path(".")).coordinator, {}))
except Exception as error:
    print(type(error).__name__, error)
"""
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=50, check=True
    )
    assert ran.stdout.startswith("ModuleLoadError hooks-otel needs the package 'opentelemetry")
    assert "pip install 'amplifier-hooks[otel]'" in ran.stdout


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ({"endpoint": "localhost:4318"}, "must be an address that begins with http"),
        ({"interval": 0}, "option 'interval' cannot be 0"),
        ({"endpont": "http://x"}, "did you mean 'endpoint'?"),
    ],
)
async def test_bad_options_are_explained(
    harness: Harness, config: dict[str, Any], sentence: str
) -> None:
    """Bad config → clear error."""
    with pytest.raises(ModuleLoadError) as caught:
        await mount(harness.coordinator, config)
    assert sentence in str(caught.value)
