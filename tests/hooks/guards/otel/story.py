"""Sessions that the telemetry tells about."""

from __future__ import annotations

from typing import Any

from tests.support.harness import Harness

USAGE = {"input_tokens": 100, "output_tokens": 20, "cache_read_tokens": 60, "cache_write_tokens": 5}

RESPONSE = {"model": "claude-x-2", "finish_reason": "tool_use", "text": "secret words"}


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
