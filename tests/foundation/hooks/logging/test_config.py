"""The options of hooks-logging."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_foundation.hooks.logging import mount
from tests.support.harness import Harness


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        (
            {"path": "{user}.jsonl"},
            "unknown placeholder ['user']; have ['date', 'pid', 'session_id']",
        ),
        ({"path": "{"}, "is no pattern"),
        ({"path": ""}, "must be a file name or 'stderr'"),
        ({"level": "loud"}, "option 'level' cannot be 'loud'"),
        ({"levels": {"tool:*": "loud"}}, "cannot be 'loud'"),
    ],
)
async def test_bad_options_are_explained(
    harness: Harness, config: dict[str, Any], sentence: str
) -> None:
    """Bad config → clear error."""
    with pytest.raises(ModuleLoadError) as caught:
        await mount(harness.coordinator, config)
    assert sentence in str(caught.value)
