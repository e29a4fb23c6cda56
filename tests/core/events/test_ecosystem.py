"""Events of the ecosystem have their types as our own do."""

from __future__ import annotations

from typing import get_type_hints

import pytest

from amplifier_core import events
from amplifier_core.events import ecosystem

TYPES = {
    "provider:resolve": ecosystem.ProviderResolveData,
    "llm:request": ecosystem.LlmCallData,
    "llm:response": ecosystem.LlmCallData,
    "provider:throttle": ecosystem.ProviderThrottleData,
    "provider:tool_sequence_repaired": ecosystem.ProviderToolSequenceRepairedData,
    "context:include": ecosystem.ContextIncludeData,
    "context:compaction": ecosystem.ContextCompactionData,
}


@pytest.mark.parametrize("event", TYPES)
def test_an_event_knows_its_type(event: str) -> None:
    assert events.payload_type(event) is TYPES[event]


def test_a_call_of_a_model_says_which_model_and_what_it_cost() -> None:
    """As a logging module of the ecosystem reads it."""
    hints = get_type_hints(ecosystem.LlmCallData)
    assert (hints["provider"], hints["model"]) == (str, str | None)
    assert {"status", "duration_ms", "usage", "request_id"} <= hints.keys()
