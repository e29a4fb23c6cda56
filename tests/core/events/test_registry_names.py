"""The events that the specification names on the registry itself."""

from __future__ import annotations

from amplifier_core import events
from amplifier_core.hooks import HookRegistry, RegistryNames


def test_the_registry_has_each_name_of_a_known_event() -> None:
    """`HookRegistry.TOOL_PRE` is `events.TOOL_PRE`; one keeps the specification's spelling."""
    names = {name: value for name, value in vars(RegistryNames).items() if name.isupper()}
    assert len(names) == 16
    for name, value in names.items():
        assert getattr(HookRegistry, name) == value
        assert events.canonical(value) == events.canonical(getattr(events, name))
    assert HookRegistry.CONTEXT_PRE_COMPACT == "context:pre-compact"
