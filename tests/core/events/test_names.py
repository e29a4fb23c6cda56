"""What an event may be called, and which known one a name nearly is."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from amplifier_core.events import spellings
from amplifier_core.events.names import KNOWN, find_meant
from amplifier_core.hooks import HookRegistry
from tests.support.hooks import says

# Names of modules' own, and of modules that exist: near no known event.
OWN = (
    "deploy:start", "deploy:end", "test:event", "session:config", "tool:selecting",
    "tool:selected", "provider:selected", "delegate:agent_spawned", "recipe:step", "skill:loaded",
    "mode:changed", "user:prompt", "todo:update", "deploy", "my_event", "a:b", "x", "routing:*",
    "delegate:*", "image:generated", "notification:sent", "memory:stored", "build:complete",
)  # fmt: skip


def misspell(name: str) -> Iterator[str]:
    """Every name with one letter swapped, dropped, doubled or replaced."""
    for place, letter in enumerate(name):
        rest = name[place + 1 :]
        yield name[:place] + rest
        yield name[:place] + letter * 2 + rest
        yield name[:place] + ("x" if letter != "x" else "y") + rest
        yield name[:place] + rest[:1] + letter + rest[1:]


@pytest.mark.parametrize("event", sorted(KNOWN))
def test_every_slip_in_every_event_is_seen(event: str) -> None:
    """Swapped, dropped, doubled, replaced: at each letter."""
    for wrong in misspell(event):
        meant = find_meant(wrong)
        assert (meant is None) == (wrong in KNOWN), wrong
    joined = [event.replace(":", one) for one in "._-/ "]
    for wrong in (*joined, event.title().replace(":", ""), event.upper()):
        assert find_meant(wrong) in spellings(event)


@pytest.mark.parametrize("event", [*sorted(KNOWN), *OWN])
def test_known_names_and_names_of_ones_own_pass(
    event: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Custom events are allowed, and nobody is told to rename them."""
    assert find_meant(event) is None
    HookRegistry().register(event, says())
    assert not caplog.records


@pytest.mark.parametrize(
    ("pattern", "meant"),
    [
        ("tol:*", "tool:*"),
        ("tools:*", "tool:*"),
        ("sesion:*", "session:*"),
        ("*:per", "*:pre"),
        ("Tool*", "tool:*"),
        ("tool:*", None),
        ("tool:p*", None),
        ("*", None),
        ("*:start", None),
        ("deploy:*", None),
        ("*:rolled_back", None),
    ],
)
def test_a_pattern_that_nothing_matches_is_a_slip_if_it_is_near_one(
    pattern: str, meant: str | None
) -> None:
    """One that matches a known event is right, whatever it is near to."""
    assert find_meant(pattern) == meant


def test_a_slip_is_registered_with_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    """It may be a custom event after all."""
    registry = HookRegistry()
    registry.register("tool:prre", says(), name="guard")
    assert registry.list_handlers() == {"tool:prre": ["guard"]}
    assert [(one.levelno, one.message) for one in caplog.records] == [
        (
            logging.WARNING,
            "Hook 'guard' on 'tool:prre' listens to an unknown event; did you mean 'tool:pre'?",
        )
    ]
