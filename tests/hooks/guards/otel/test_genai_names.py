"""Spans and metrics bear the names of the conventions."""

from __future__ import annotations

from tests.hooks.guards.otel.collector import collector
from tests.hooks.guards.otel.story import story
from tests.support.harness import Harness


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
