"""One rule says which provider a session talks to."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_core.mounting import resolve_provider

PROVIDERS = {"first": object(), "second": object()}


def loop(provider: str | None) -> Any:
    return SimpleNamespace(config=SimpleNamespace(provider=provider))


@pytest.mark.parametrize(
    ("orchestrator", "expected"),
    [
        (loop("second"), "second"),
        (loop(None), "first"),
        (loop(""), "first"),
        (SimpleNamespace(config={"provider": "second"}), "first"),
        (SimpleNamespace(), "first"),
        (None, "first"),
    ],
)
def test_the_loops_choice_counts_else_the_first(orchestrator: Any, expected: str) -> None:
    """A loop without a choice, or without options that can be read, talks to the first one."""
    assert resolve_provider(PROVIDERS, orchestrator) is PROVIDERS[expected]


@pytest.mark.parametrize(
    ("providers", "orchestrator"), [(PROVIDERS, loop("third")), ({}, loop(None)), ({}, None)]
)
def test_a_choice_that_is_not_mounted_is_no_provider(
    providers: dict[str, Any], orchestrator: Any
) -> None:
    """Another model than the one that was chosen is never taken silently."""
    assert resolve_provider(providers, orchestrator) is None
