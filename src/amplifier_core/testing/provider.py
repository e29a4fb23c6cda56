"""A provider without a model."""

from __future__ import annotations

from typing import Any

from amplifier_core.message_models import ChatRequest, ChatResponse, TextBlock, ToolCall, Usage
from amplifier_core.models import ModelInfo, ProviderInfo


class MockProvider:
    """Gives one reply to every request, and keeps the requests."""

    def __init__(self, name: str = "mock", reply: str = "Hello from the mock provider") -> None:
        self.name = name
        self.reply = reply
        self.requests: list[ChatRequest] = []

    def get_info(self) -> ProviderInfo:
        """What an application would list."""
        return ProviderInfo(id=self.name, display_name="Mock provider")

    async def list_models(self) -> list[ModelInfo]:
        """The one model it does not have."""
        return [
            ModelInfo(
                id="mock-model",
                display_name="Mock model",
                context_window=100_000,
                max_output_tokens=10_000,
            )
        ]

    async def complete(self, request: ChatRequest, **kwargs: Any) -> ChatResponse:
        """Note the request and reply."""
        self.requests.append(request)
        usage = Usage(input_tokens=1, output_tokens=1, total_tokens=2)
        return ChatResponse(
            content=[TextBlock(text=self.reply)], usage=usage, finish_reason="end_turn"
        )

    def parse_tool_calls(self, response: ChatResponse) -> list[ToolCall]:
        """The calls in a response; its own never have any."""
        return response.tool_calls or []
