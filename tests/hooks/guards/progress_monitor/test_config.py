"""The options of hooks-progress-monitor."""

from __future__ import annotations

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.guards.progress_monitor import mount
from tests.support.harness import Harness


@pytest.mark.parametrize("steps", [[5, 3, 1], [3, 3, 3], [1, 2], [1, 2, 3], [3, 5, 1000]])
async def test_steps_that_do_not_rise_are_refused(harness: Harness, steps: list[int]) -> None:
    """Bad config → clear error."""
    with pytest.raises(ModuleLoadError, match=r"hooks-progress-monitor: option 'repeats"):
        await mount(harness.coordinator, {"repeats": steps})
