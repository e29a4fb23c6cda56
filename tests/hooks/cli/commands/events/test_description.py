"""The description of an event, read from its type."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from amplifier_core.events import ALL_EVENTS, canonical
from amplifier_core.events.event import EventData
from amplifier_core.events.payloads import ErrorDetails
from amplifier_hooks.cli.commands.events import (
    COMMON_FIELDS,
    OF_MODULES,
    Field,
    describe_event,
    list_events,
    write_type,
)


def test_every_event_is_described_once() -> None:
    """With a sentence, whatever its spelling."""
    known = {canonical(event) for event in ALL_EVENTS}
    assert set(list_events()) == known | set(OF_MODULES)
    assert len(list_events()) == len(known) + len(OF_MODULES)
    sentences = [describe_event(event).when for event in list_events()]
    assert all(one[0].isupper() and one.endswith(".") for one in sentences)
    assert len(set(sentences)) == len(sentences)


def test_a_field_has_its_type_its_meaning_and_may_be_absent() -> None:
    """As the type of the payload and its source say."""
    fields = {one.name: one for one in describe_event("session:start").fields}
    assert fields["source"] == Field("source", "'startup' | 'resume' | 'compact'", True)
    meaning = "What the plan says under session.metadata."
    assert fields["metadata"] == Field("metadata", "dict[str, Any]", False, meaning)


def test_what_every_event_carries_is_said_once() -> None:
    """Not among the fields of each."""
    assert COMMON_FIELDS.keys() == EventData.__annotations__.keys()
    assert not any(
        one.name in COMMON_FIELDS for event in list_events() for one in describe_event(event).fields
    )


def test_an_event_of_a_module_is_described_like_those_of_the_kernel() -> None:
    """With its fields, and that it can be stopped."""
    event = describe_event("mcp:list")
    assert event.can_stop
    assert [one.name for one in event.fields] == ["server", "method", "items", "instructions"]
    assert "tool-mcp" in event.when


def test_another_spelling_is_named() -> None:
    """And leads to the same description."""
    assert describe_event("tool:error").also == "error:tool"
    assert describe_event("error:tool") == describe_event("tool:error")


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (str, "str"),
        (type(None), "None"),
        (str | None, "str | None"),
        (list[dict[str, Any]], "list[dict[str, Any]]"),
        (Literal["a", "b"], "'a' | 'b'"),
        (
            ErrorDetails,
            "{type: str, message: str, retryable?: bool, status_code?: int | None}",
        ),
    ],
)
def test_a_type_is_written_as_in_python(kind: Any, text: str) -> None:
    """A nested payload with its fields."""
    assert write_type(kind) == text
