"""The data of events that modules of the ecosystem emit, and we do not."""

from __future__ import annotations

from typing import Any, NotRequired

from amplifier_core.events.event import EventData


class ProviderResolveData(EventData):
    """A module of the ecosystem chooses the provider of a request."""

    provider: NotRequired[str]
    model: NotRequired[str | None]


class LlmCallData(EventData):
    """A provider of the ecosystem sends a request, or has its answer."""

    provider: str
    model: str | None
    status: NotRequired[str]
    duration_ms: NotRequired[int]
    usage: NotRequired[dict[str, Any]]
    request_id: NotRequired[str]
    """The same for the request, its answer and its failures."""


class ProviderThrottleData(EventData):
    """A provider waits because it was told to."""

    provider: str
    model: NotRequired[str | None]
    reason: NotRequired[str]
    delay: NotRequired[float]
    request_id: NotRequired[str]


class ProviderToolSequenceRepairedData(EventData):
    """A provider added results that a conversation lacked."""

    provider: str
    repair_count: NotRequired[int]
    repairs: NotRequired[list[dict[str, Any]]]


class ContextIncludeData(EventData):
    """A module of the ecosystem put a file into the conversation."""

    source: NotRequired[str]
    path: NotRequired[str]


class ContextCompactionData(EventData):
    """A context of the ecosystem has made itself shorter."""

    before_tokens: NotRequired[int]
    after_tokens: NotRequired[int]
