"""The reason why a reply of a model ended: whether it is whole, or was cut off."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_LIMIT = "it reached the limit of its output (`max_output_tokens`)"
_FILTER = "the provider's filter stopped it"
# Our providers say "length"; others pass on the word of their model's API.
_CUTS = {
    "length": _LIMIT,
    "max_tokens": _LIMIT,
    "max_output_tokens": _LIMIT,
    "model_context_window_exceeded": "the conversation filled the model's context window",
    "content_filter": _FILTER,
    "refusal": _FILTER,
    "safety": _FILTER,
}


def explain_cut(reason: str | None) -> str | None:
    """Why a reply with this finish reason is not whole; None if it is, or if nobody knows."""
    return None if reason is None else _CUTS.get(reason.lower())


def read_finish_reason(data: Mapping[str, Any]) -> str | None:
    """The finish reason in the data of a provider:response, which any loop may have emitted."""
    response = data.get("response")
    reason = response.get("finish_reason") if isinstance(response, Mapping) else None
    return reason if isinstance(reason, str) else None
