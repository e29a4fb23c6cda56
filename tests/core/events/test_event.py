"""The name of an event and the type of what it carries."""

from __future__ import annotations

import subprocess
import sys
from typing import is_typeddict

from amplifier_core import events
from amplifier_core.events.event import TYPES, Event, EventData, find_type


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


def test_every_event_of_ours_has_a_type() -> None:
    """Its name is written down, and the type is found by it."""
    for name in events.ALL_EVENTS:
        found = events.payload_type(name)
        assert found is not None
        assert is_typeddict(found)
        assert events.payload_type(name) is found


def test_an_event_that_nobody_has_defined_has_no_type() -> None:
    """It carries what its emitter likes."""
    assert find_type("nobody:knows") is None


def test_the_types_are_imported_when_they_are_asked_for() -> None:
    """A process that only routes events does without."""
    script = (
        "import sys, amplifier_core.hooks\n"
        "from amplifier_core import events\n"
        "print('amplifier_core.events.payloads' in sys.modules)\n"
        "print(events.payload_type('tool:pre').__name__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False", "ToolPreData"]


def test_the_types_can_be_reached_through_the_events() -> None:
    """As a type checker says that they can, in a process that has imported nothing else."""
    program = (
        "from amplifier_core import events\n"
        "print(events.payloads.ToolPreData.__name__, events.ecosystem.LlmCallData.__name__)\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (run.stdout.split(), run.stderr) == (["ToolPreData", "LlmCallData"], "")
    assert vars(events)["__getattr__"]("payloads") is events.payloads
    assert not hasattr(events, "nonsense")
