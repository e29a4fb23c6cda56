"""The provider without a model."""

from __future__ import annotations

from amplifier_core.message_models import ChatRequest, Message
from amplifier_core.models import ModelInfo, ProviderInfo
from amplifier_core.testing import MockProvider


async def test_a_provider_gives_its_reply_to_every_request() -> None:
    """And keeps what it was asked."""
    provider = MockProvider(reply="hi")
    request = ChatRequest(messages=[Message(role="user", content="hello")])
    response = await provider.complete(request, temperature=0)
    assert response.text == "hi"
    assert provider.parse_tool_calls(response) == []
    assert provider.requests == [request]


async def test_a_provider_introduces_itself() -> None:
    """With the values that applications list."""
    provider = MockProvider("mine")
    info = provider.get_info()
    assert isinstance(info, ProviderInfo)
    assert info.id == provider.name == "mine"
    assert [type(model) for model in await provider.list_models()] == [ModelInfo]
