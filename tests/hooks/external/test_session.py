"""What a session behind another program hands on to the process that goes on with it."""

from __future__ import annotations

import asyncio

import pytest

from amplifier_core.errors import SessionStateError
from amplifier_core.testing import TestCoordinator
from amplifier_hooks.external.conversation import ExternalContext
from amplifier_hooks.external.session import ExternalSession


def make_session() -> ExternalSession:
    """By hand, without a bundle."""
    coordinator = TestCoordinator(context=ExternalContext())
    return ExternalSession(
        coordinator, ExternalContext(), lambda _: asyncio.sleep(0), program="the program"
    )


async def test_what_was_injected_is_handed_on() -> None:
    """Else an agent could spend its budget again by way of restarts; nonsense is none."""
    first = make_session()
    first.coordinator.injection_budget = 7
    second = make_session()
    second.load(first.save())
    assert second.coordinator.injection_budget == 7
    second.load({**first.save(), "injected": "many"})
    assert second.coordinator.injection_budget == 7
    with pytest.raises(SessionStateError, match="made by hand"):
        await first.read_state()
