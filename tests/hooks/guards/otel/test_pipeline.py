"""Where spans and metrics go."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from pathlib import Path

from tests.hooks.guards.otel.collector import Collector, collector
from tests.hooks.guards.otel.story import story
from tests.support.harness import Harness


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
    async with harness.mounted("otel", {"endpoint": "http://127.0.0.1:9", "timeout": 0.3}):
        await story(harness)
    with collector(delay=50) as kept:
        config = {"endpoint": kept.url, "timeout": 0.2, "interval": 0.05}
        started = time.monotonic()
        async with harness.mounted("otel", config):
            await story(harness)
        assert time.monotonic() - started < 40


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
from tests.hooks.guards.otel.story import story
kept = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(kept))
trace.set_tracer_provider(provider)
async def main():
    async with Harness(pathlib.Path(".")).mounted("otel") as harness:
        await story(harness)
asyncio.run(main())
print(sorted({span.name for span in kept.get_finished_spans()}))
"""
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=50, check=True
    )
    assert "'chat claude-x', 'execute_tool Bash', 'invoke_agent amplifier'" in ran.stdout
