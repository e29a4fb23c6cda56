"""Mounting the search tools."""

from __future__ import annotations

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.agent.tools import search


async def test_both_tools_explain_themselves(coordinator):
    """Description and schema are good enough for a model."""
    await search.mount(coordinator, None)
    for tool in coordinator.tools.values():
        assert len(tool.description) > 80
        assert tool.input_schema["required"] == ["pattern"]
        assert all("description" in field for field in tool.input_schema["properties"].values())
    assert {"-i", "-A", "-B", "-C"} <= set(coordinator.tools["Grep"].input_schema["properties"])


async def test_they_are_mounted_and_taken_away_again(coordinator):
    """Both, or the one that is wanted."""
    unmount = await search.mount(coordinator, {"tools": ["Glob"]})
    assert list(coordinator.tools) == ["Glob"]
    await unmount()
    unmount = await search.mount(coordinator, {})
    assert list(coordinator.tools) == ["Glob", "Grep"]
    await unmount()
    assert coordinator.tools == {}


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"tools": ["Find"]}, "tool-search: Unknown tool 'Find'; have"),
        ({"engine": "perl"}, "'engine' cannot be 'perl'"),
        ({"seconds": 0}, "'seconds' cannot be 0"),
    ],
)
async def test_options_are_checked_at_the_mount(coordinator, config, words):
    """Not at the first search."""
    with pytest.raises(ModuleLoadError) as caught:
        await search.mount(coordinator, config)
    assert words in str(caught.value)
