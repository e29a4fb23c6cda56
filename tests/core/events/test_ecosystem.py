"""Events of the ecosystem have their types as our own do."""

from __future__ import annotations

from typing import get_type_hints

import pytest

from amplifier_core import events, payloads

TYPES = {
    "provider:resolve": payloads.ProviderResolveData,
    "llm:request": payloads.LlmCallData,
    "llm:response": payloads.LlmCallData,
    "provider:throttle": payloads.ProviderThrottleData,
    "provider:tool_sequence_repaired": payloads.ProviderToolSequenceRepairedData,
    "context:include": payloads.ContextIncludeData,
    "context:compaction": payloads.ContextCompactionData,
}


@pytest.mark.parametrize("event", TYPES)
def test_an_event_knows_its_type(event: str) -> None:
    assert events.payload_type(event) is TYPES[event]


def test_a_call_of_a_model_says_which_model_and_what_it_cost() -> None:
    """As a logging module of the ecosystem reads it."""
    hints = get_type_hints(payloads.LlmCallData)
    assert (hints["provider"], hints["model"]) == (str, str | None)
    assert {"status", "duration_ms", "usage", "request_id"} <= hints.keys()
