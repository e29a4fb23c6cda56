"""The data of events that modules of the ecosystem emit, and we do not."""

from __future__ import annotations

from typing import Any, NotRequired

from amplifier_core.events.event import EventData


class ProviderResolveData(EventData):
    """A module of the ecosystem chooses the provider of a request."""

    provider: NotRequired[str]
    model: NotRequired[str | None]


class LlmCallData(EventData):
    """A provider of the ecosystem sends a request, or received its response."""

    provider: str
    model: str | None
    status: NotRequired[str]
    duration_ms: NotRequired[int]
    usage: NotRequired[dict[str, Any]]
    request_id: NotRequired[str]
    """The same for a request, its response and its failures."""


class ProviderThrottleData(EventData):
    """A provider waits because of a rate limit."""

    provider: str
    model: NotRequired[str | None]
    reason: NotRequired[str]
    delay: NotRequired[float]
    request_id: NotRequired[str]


class ProviderToolSequenceRepairedData(EventData):
    """A provider added results that were missing in a conversation."""

    provider: str
    repair_count: NotRequired[int]
    repairs: NotRequired[list[dict[str, Any]]]


class ContextIncludeData(EventData):
    """A module of the ecosystem added a file to the conversation."""

    source: NotRequired[str]
    path: NotRequired[str]


class ContextCompactionData(EventData):
    """A context of the ecosystem was compacted."""

    before_tokens: NotRequired[int]
    after_tokens: NotRequired[int]
