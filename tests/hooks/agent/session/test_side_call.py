"""A question to the session's model, outside the conversation."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.errors import SessionError
from amplifier_core.message_models import ChatRequest, ChatResponse, TextBlock
from amplifier_core.testing import TestCoordinator
from amplifier_hooks.agent.providers.scripted import ScriptedProvider
from amplifier_hooks.agent.session.capabilities import ask_model


class Model:
    """Answers everything with its own name."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.requests: list[ChatRequest] = []

    async def complete(self, request: ChatRequest, **more: Any) -> ChatResponse:
        self.requests.append(request)
        return ChatResponse(content=[TextBlock(text=self.name)])


@pytest.mark.parametrize("system", [None, "Be brief."])
async def test_the_model_gets_the_question_alone(system: str | None) -> None:
    """No history, no tools, and no more output than asked for."""
    coordinator, model = TestCoordinator(), Model("first")
    await coordinator.mount("providers", model)
    assert await ask_model(coordinator, "name it", system, 20) == "first"
    [request] = model.requests
    expected = ([("system", system)] if system else []) + [("user", "name it")]
    assert [(message.role, message.content) for message in request.messages] == expected
    assert (request.max_output_tokens, request.tools or []) == (20, [])


async def test_the_model_that_the_loop_talks_to_is_asked() -> None:
    """The same rule as for the conversation."""
    coordinator = TestCoordinator()
    for name in ("first", "second"):
        await coordinator.mount("providers", Model(name))

    class Loop:
        class config:  # noqa: N801
            provider = "second"

    await coordinator.mount("orchestrator", Loop())
    assert await ask_model(coordinator, "x", None, 9) == "second"


async def test_without_a_model_there_is_nobody_to_ask() -> None:
    """An error that says so, for the hook that asked."""
    with pytest.raises(SessionError, match="No provider is mounted"):
        await ask_model(TestCoordinator(), "x", None, 9)


async def test_a_scripted_model_keeps_its_lines_for_the_conversation() -> None:
    """It says by itself that it answers its script and nothing else."""
    coordinator = TestCoordinator()
    await coordinator.mount("providers", ScriptedProvider([]))
    with pytest.raises(SessionError, match="plays its script"):
        await ask_model(coordinator, "x", None, 9)


async def test_the_question_is_scrubbed_as_no_hook_sees_it() -> None:
    """What must not leave the session does not leave it this way either."""
    coordinator, model = TestCoordinator(), Model("first")
    coordinator.register_scrubber(lambda text: text.replace("hunter2", "***"))
    await coordinator.mount("providers", model)
    await ask_model(coordinator, "name hunter2", "not hunter2", 20)
    assert [one.content for one in model.requests[0].messages] == ["not ***", "name ***"]
