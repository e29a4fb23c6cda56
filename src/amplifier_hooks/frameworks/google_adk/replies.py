"""A reply of a model: as hooks read it, and with what they made of it."""

from __future__ import annotations

from typing import Any

from google.adk.models.llm_response import LlmResponse
from google.genai import types

from amplifier_hooks.external.verdicts import Reply, ReplyVerdict
from amplifier_hooks.frameworks.google_adk.contents import make_content, read_text, replace_text_of
from amplifier_hooks.frameworks.google_adk.requests import change_calls, read_calls


def read_reply(response: LlmResponse, duration_ms: int) -> Reply:
    """What hooks see of a reply."""
    parts = (response.content.parts if response.content else None) or []
    reason = response.finish_reason
    return Reply(
        text=read_text(parts),
        calls=read_calls(parts),
        model=response.model_version,
        usage=_read_usage(response.usage_metadata),
        finish_reason=None if reason is None else reason.value.lower(),
        duration_ms=duration_ms,
    )


def _read_usage(usage: types.GenerateContentResponseUsageMetadata | None) -> dict[str, Any]:
    if usage is None:
        return {}
    known = {
        "input_tokens": usage.prompt_token_count,
        "output_tokens": usage.candidates_token_count,
        "total_tokens": usage.total_token_count,
        "cache_read_tokens": usage.cached_content_token_count,
        "reasoning_tokens": usage.thoughts_token_count,
    }
    return {name: count for name, count in known.items() if count is not None}


def write_refusal(reason: str) -> LlmResponse:
    """A reply that ends the turn."""
    return LlmResponse(content=make_content("model", reason))


def change_reply(response: LlmResponse, verdict: ReplyVerdict) -> LlmResponse:
    """The reply with what hooks left of it."""
    content = response.content or types.Content(role="model")
    parts = list(content.parts or ())
    if verdict.text is not None:
        parts = replace_text_of(parts, verdict.text)
    if verdict.calls is not None:
        parts = change_calls(parts, verdict.calls)
    return response.model_copy(update={"content": content.model_copy(update={"parts": parts})})
