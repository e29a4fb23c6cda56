"""The kit for conformance of AGENT-HOOKS 0.1, on an AmplifierSession with loop-basic."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("agent_hooks")

from agent_hooks.ctk.runner import load_vectors, run_vector

from tests.hooks.frameworks.agent_hooks.conforming_host import ConformingHost

VECTORS = load_vectors()
NOT_OURS = "incremental_output"
"""The only capability that this host does not declare: it hands over whole answers."""


@pytest.mark.parametrize("vector", VECTORS, ids=lambda one: str(one["id"]))
async def test_the_session_does_what_the_vector_says(vector: dict[str, Any]) -> None:
    """Every vector that applies passes; what is skipped is skipped by its capability alone."""
    host: Any = ConformingHost()  # what is optional in the kit's text is required by its type
    result = await run_vector(host, vector)
    if NOT_OURS in vector["capabilities"]:
        assert result.status == "skip"
        pytest.skip(result.detail)
    assert (result.status, result.failures) == ("pass", [])


def test_71_of_the_75_vectors_apply() -> None:
    """A kit with fewer vectors, or more that do not apply, would prove less than we claim."""
    applying = [one for one in VECTORS if NOT_OURS not in one["capabilities"]]
    assert (len(VECTORS), len(applying)) == (75, 71)
