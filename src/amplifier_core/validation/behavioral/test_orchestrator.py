"""Behaviour of a loop."""

from __future__ import annotations

from typing import Any

from amplifier_core.validation.pytest_marks import asynchronous

PROMPT = "Say hello"


class OrchestratorBehaviorTests:
    """The loop plays a turn with what it is given, without a coordinator."""

    @asynchronous
    async def test_the_loop_can_be_executed(self, orchestrator_module: Any) -> None:
        """It has a method for that."""
        assert callable(getattr(orchestrator_module, "execute", None)), "there is no execute"

    @asynchronous
    async def test_a_turn_ends_with_a_text(
        self, orchestrator_module: Any, mock_deps: tuple[Any, ...]
    ) -> None:
        """A string, whatever the provider replied in."""
        reply = await _execute(orchestrator_module, mock_deps)
        assert isinstance(reply, str), f"execute gave {type(reply).__name__}, not a string"

    @asynchronous
    async def test_the_text_is_not_empty(
        self, orchestrator_module: Any, mock_deps: tuple[Any, ...]
    ) -> None:
        """The provider had something to say."""
        reply = await _execute(orchestrator_module, mock_deps)
        assert reply, "execute gave an empty string"

    @asynchronous
    async def test_an_empty_prompt_is_survived(
        self, orchestrator_module: Any, mock_deps: tuple[Any, ...]
    ) -> None:
        """And the next one is answered as usual."""
        await _execute(orchestrator_module, mock_deps, "")
        assert await _execute(orchestrator_module, mock_deps), "execute gave an empty string"

    @asynchronous
    async def test_the_conversation_grows(
        self, orchestrator_module: Any, mock_deps: tuple[Any, ...]
    ) -> None:
        """What was said stays for the next turn."""
        await _execute(orchestrator_module, mock_deps)
        assert mock_deps[0].messages, "the context got no message"

    @asynchronous
    async def test_one_turn_follows_another(
        self, orchestrator_module: Any, mock_deps: tuple[Any, ...]
    ) -> None:
        """With the same conversation."""
        replies = [await _execute(orchestrator_module, mock_deps) for _ in range(2)]
        assert all(isinstance(one, str) for one in replies), f"execute gave {replies!r}"


async def _execute(loop: Any, given: tuple[Any, ...], prompt: str = PROMPT) -> Any:
    context, providers, tools, hooks = given
    return await loop.execute(
        prompt=prompt, context=context, providers=providers, tools=tools, hooks=hooks
    )


class TestOrchestratorBehavior(OrchestratorBehaviorTests):
    """The same, for the module that `--module-path` names."""
