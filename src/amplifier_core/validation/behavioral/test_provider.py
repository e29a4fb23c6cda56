"""Behaviour of a provider, as far as that can be seen without its model."""

from __future__ import annotations

from typing import Any

from amplifier_core.message_models import ChatResponse, TextBlock
from amplifier_core.models import ProviderInfo
from amplifier_core.utils import resolve
from amplifier_core.validation.pytest_marks import asynchronous


class ProviderBehaviorTests:
    """The provider introduces itself, lists its models, and reads responses."""

    @asynchronous
    async def test_the_provider_has_a_name(self, provider_module: Any) -> None:
        """Plans, events and applications know it by that."""
        name = getattr(provider_module, "name", None)
        assert isinstance(name, str), f"name is {type(name).__name__}, not a string"
        assert name.strip(), "name is empty"

    @asynchronous
    async def test_the_provider_introduces_itself(self, provider_module: Any) -> None:
        """With what an application needs to list and configure it."""
        info = provider_module.get_info()
        assert isinstance(info, ProviderInfo), f"get_info gave {type(info).__name__}"

    @asynchronous
    async def test_the_provider_lists_its_models(self, provider_module: Any) -> None:
        """The list may be empty."""
        models = await resolve(provider_module.list_models())
        assert isinstance(models, list), f"list_models gave {type(models).__name__}"

    @asynchronous
    async def test_the_provider_finds_the_tool_calls_of_a_response(
        self, provider_module: Any
    ) -> None:
        """A response without any has an empty list."""
        response = ChatResponse(content=[TextBlock(text="Hello")])
        calls = provider_module.parse_tool_calls(response)
        assert isinstance(calls, list), f"parse_tool_calls gave {type(calls).__name__}"

    @asynchronous
    async def test_the_provider_can_complete(self, provider_module: Any) -> None:
        """It has a method for that; calling it would need a model."""
        assert callable(getattr(provider_module, "complete", None)), "there is no method complete"


class TestProviderBehavior(ProviderBehaviorTests):
    """The same, for the module that `--module-path` names."""
