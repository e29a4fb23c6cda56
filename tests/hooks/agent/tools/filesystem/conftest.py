"""The file tools of a session."""

from __future__ import annotations

import pytest

from amplifier_hooks.agent.tools import filesystem
from amplifier_hooks.agent.tools.roots import Roots


@pytest.fixture
async def call(coordinator):
    """Calls a tool by its name."""
    await filesystem.mount(coordinator, None)

    async def execute(name, **given):
        return await coordinator.tools[name].execute(given)

    return execute


@pytest.fixture
def locate(work):
    """The place of a path in the working directory."""
    return Roots(work.resolve(), (work.resolve(),)).locate
