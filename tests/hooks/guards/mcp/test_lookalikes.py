"""Keys that some readers take for others."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_hooks.guards.mcp.lookalikes import drop_lookalikes


@pytest.mark.parametrize(
    ("value", "left"),
    [
        ({"content": [1], "Content": [2]}, {"content": [1]}),
        ({"ResultType": "input_required"}, {}),
        ({"content": [{"type": "text", "text": "a", "TEXT": "b"}]}, None),
        ({"inputRequests": {"Name": {"method": "a", "Method": "b"}}}, None),
        ({"tools": [{"name": "a", "DESCRIPTION": "b"}]}, {"tools": [{"name": "a"}]}),
    ],
)
def test_a_key_that_differs_in_case_only_goes(value: Any, left: Any) -> None:
    """At any depth, where the protocol gives the names."""
    found = drop_lookalikes(value)
    if left is not None:
        assert found == left
    assert found != value
    assert drop_lookalikes(found) is found


@pytest.mark.parametrize(
    "value",
    [
        {"structuredContent": {"Name": 1, "name": 2}},
        {"content": {"Name": "what a person filled in"}},
        {"inputResponses": {"Text": {"action": "accept"}, "text": {"action": "decline"}}},
        {"tools": [{"inputSchema": {"properties": {"Uri": {}}}}]},
        {"other": 1, "Other": 2},
        [1, "Content", None],
    ],
)
def test_names_that_are_the_servers_own_stay(value: Any) -> None:
    """The very same object comes back."""
    assert drop_lookalikes(value) is value
