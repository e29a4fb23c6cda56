"""The tests of a loop's behaviour."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.testing import EventRecorder, MockContextManager, MockProvider, MockTool
from amplifier_core.validation.behavioral import OrchestratorBehaviorTests
from tests.support.behavior import find_failures, list_tests


class Loop:
    """A loop with one fault, or none."""

    def __init__(self, fault: str = "") -> None:
        self.fault = fault

    async def execute(
        self, prompt: str, context: Any, providers: Any, tools: Any, hooks: Any
    ) -> Any:
        if self.fault == "needs a prompt" and not prompt:
            raise IndexError("no prompt")
        if self.fault != "forgets":
            await context.add_message({"role": "user", "content": prompt})
        await hooks.emit("provider:request", {"tools": list(tools)})
        response = await providers["default"].complete(await context.get_messages_for_request())
        return {"says nothing": "", "returns the response": response}.get(self.fault, response.text)


def test_there_are_six() -> None:
    """As many as authors of the ecosystem count."""
    assert len(list_tests(OrchestratorBehaviorTests)) == 6


@pytest.mark.parametrize(
    ("fault", "failed"),
    [
        ("", set()),
        ("forgets", {"test_the_conversation_grows"}),
        ("needs a prompt", {"test_an_empty_prompt_is_survived"}),
        ("says nothing", {"test_the_text_is_not_empty", "test_an_empty_prompt_is_survived"}),
        ("returns the response", {"test_a_turn_ends_with_a_text", "test_one_turn_follows_another"}),
    ],
)
async def test_each_fault_is_found(fault: str, failed: set[str]) -> None:
    """By the test that is about it."""

    def make() -> tuple[Any, ...]:
        hooks = EventRecorder()
        given = (MockContextManager(), {"default": MockProvider()}, {"t": MockTool("t")}, hooks)
        return Loop(fault), given

    assert await find_failures(OrchestratorBehaviorTests, make) == failed


async def test_what_cannot_be_executed_fails_them_all() -> None:
    """It is no loop."""
    failed = await find_failures(OrchestratorBehaviorTests, lambda: (object(), (None,) * 4))
    assert failed == set(list_tests(OrchestratorBehaviorTests))
