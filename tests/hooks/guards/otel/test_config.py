"""The options of hooks-otel."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.guards.otel import mount
from tests.support.harness import Harness


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ({"endpoint": "localhost:4318"}, "must be an address that begins with http"),
        ({"interval": 0}, "option 'interval' cannot be 0"),
    ],
)
async def test_bad_options_are_explained(
    harness: Harness, config: dict[str, Any], sentence: str
) -> None:
    """Bad config → clear error."""
    with pytest.raises(ModuleLoadError) as caught:
        await mount(harness.coordinator, config)
    assert sentence in str(caught.value)
