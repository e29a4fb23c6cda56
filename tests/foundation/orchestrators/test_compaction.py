"""Compaction: contexts of every form are asked whether they want it, before each request."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.testing import MockContextManager, MockTool
from amplifier_foundation.orchestrators.compaction import compact_if_needed
from tests.support.sessions import SessionHarness, calls


class Plain(MockContextManager):
    """A context that answers at once."""

    def __init__(self, wanted: bool) -> None:
        super().__init__()
        self.wanted = wanted
        self.compacted = 0

    def should_compact(self) -> Any:
        return self.wanted

    def compact(self) -> Any:
        self.compacted += 1


class Awaited(Plain):
    """A context that has to be awaited, as many of the ecosystem have."""

    async def should_compact(self) -> Any:
        return self.wanted

    async def compact(self) -> Any:
        self.compacted += 1


@pytest.mark.parametrize("kind", [Plain, Awaited])
@pytest.mark.parametrize("wanted", [True, False])
async def test_a_context_that_wants_to_is_compacted(kind: type[Plain], wanted: bool) -> None:
    """Both forms, asked plainly or awaited, are compacted once if they want it."""
    context = kind(wanted)
    await compact_if_needed(context)
    assert context.compacted == int(wanted)


async def test_a_context_that_cannot_is_left_alone() -> None:
    """Compaction is optional in a context."""
    context = MockContextManager([{"role": "user", "content": "x"}])
    await compact_if_needed(context)
    assert len(context.messages) == 1


async def test_a_long_turn_is_compacted_between_its_requests() -> None:
    """A conversation that grows over the budget while tools run does not wait for the next turn."""
    script = [calls("Echo", text="x" * 900) for _ in range(4)] + [{"text": "done"}]
    context = {"max_tokens": 500, "keep_last": 2}
    async with SessionHarness(script, tools=[MockTool("Echo")], context_config=context) as harness:
        heard = harness.listen()
        assert await harness.session.execute("go") == "done"
        assert "earlier messages were left out" in str(harness.messages[0]["content"])
        assert "go" in harness.texts("user")
    assert heard.names.count("context:post_compact") >= 2
