"""The name of an event and the type of what it carries."""

from __future__ import annotations

from typing import is_typeddict

from amplifier_core import events
from amplifier_core.events import Event, EventData


def test_the_name_of_an_event_is_a_plain_string() -> None:
    """So that it is as fast as one, and can be written down as one."""
    assert type(events.TOOL_PRE) is str
    assert all(type(name) is str for name in events.ALL_EVENTS)


def test_a_module_may_define_events_of_its_own() -> None:
    """Then the type of its data is known like any other."""

    class DeployedData(EventData):
        version: str

    name = Event[DeployedData]("deploy:done")
    try:
        assert events.payload_type(name) is DeployedData
        assert name not in events.ALL_EVENTS
    finally:
        del events._types[name]


def test_every_event_of_ours_has_a_type() -> None:
    """Its name is written down, and the type is found by it."""
    for name in events.ALL_EVENTS:
        found = events.payload_type(name)
        assert found is not None
        assert is_typeddict(found)
        assert events.payload_type(name) is found


def test_an_event_that_nobody_has_defined_has_no_type() -> None:
    """It carries what its emitter likes."""
    assert events.payload_type("nobody:knows") is None
