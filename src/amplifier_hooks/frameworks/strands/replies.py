"""A reply of a model: as hooks read it, and with what they made of it."""

from __future__ import annotations

from typing import Any

from strands.middleware import ModelStopReason

from amplifier_hooks.external.verdicts import Reply, ReplyVerdict
from amplifier_hooks.frameworks.strands.contents import read_text, replace_text
from amplifier_hooks.frameworks.strands.requests import change_calls, read_calls

_TOKENS = {
    "inputTokens": "input_tokens",
    "outputTokens": "output_tokens",
    "totalTokens": "total_tokens",
    "cacheReadInputTokens": "cache_read_tokens",
    "cacheWriteInputTokens": "cache_write_tokens",
}


def read_reply(stop: ModelStopReason, model: str | None, duration_ms: int) -> Reply:
    """What hooks see of a reply."""
    blocks = stop.message["content"]
    usage: dict[str, Any] = dict(stop.usage)
    return Reply(
        text=read_text(blocks),
        calls=read_calls(blocks),
        model=model,
        usage={ours: usage[theirs] for theirs, ours in _TOKENS.items() if theirs in usage},
        finish_reason=stop.stop_reason,
        duration_ms=duration_ms,
    )


def is_answer(stop: ModelStopReason) -> bool:
    """Whether the agent answers with this reply: it wants no tool."""
    return not any("toolUse" in block for block in stop.message["content"])


def write_refusal(reason: str, stop: ModelStopReason | None = None) -> ModelStopReason:
    """A reply that ends the turn, with what the model's own has cost."""
    if stop is not None:
        return _rebuild(stop, [{"text": reason}])
    return ModelStopReason(
        stop_reason="end_turn",
        message={"role": "assistant", "content": [{"text": reason}]},
        usage={"inputTokens": 0, "outputTokens": 0, "totalTokens": 0},
        metrics={"latencyMs": 0},
    )


def change_reply(stop: ModelStopReason, verdict: ReplyVerdict) -> ModelStopReason:
    """The reply with what hooks left of it."""
    blocks: list[Any] = list(stop.message["content"])
    if verdict.text is not None:
        blocks = replace_text(blocks, verdict.text)
    if verdict.calls is not None:
        blocks = change_calls(blocks, verdict.calls)
    return _rebuild(stop, blocks)


def change_answer(stop: ModelStopReason, text: str) -> ModelStopReason:
    """The reply with another text."""
    return _rebuild(stop, replace_text(stop.message["content"], text))


def _rebuild(stop: ModelStopReason, blocks: list[Any]) -> ModelStopReason:
    reason = stop.stop_reason
    if any("toolUse" in block for block in blocks):
        reason = "tool_use"
    elif reason == "tool_use":
        reason = "end_turn"
    message: Any = {**stop.message, "content": blocks}
    return ModelStopReason(reason, message, stop.usage, stop.metrics)
