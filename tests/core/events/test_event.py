"""The name of an event and the type of what it carries."""

from __future__ import annotations

from amplifier_core import events
from amplifier_core.events.event import TYPES, Event, EventData


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
        del TYPES[name]
