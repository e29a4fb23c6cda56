"""A provider module: text, thinking and tool calls as blocks, parsed by itself."""

from amplifier_core.llm_errors import RateLimitError
from amplifier_core.message_models import (
    ChatResponse,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolCallBlock,
    Usage,
)


class CannedProvider:
    name = "canned"

    def __init__(self, config):
        self.config = config
        self.failures = config.get("failures", 0)

    async def complete(self, request, **kwargs):
        if self.failures:
            self.failures -= 1
            raise RateLimitError("slow down", provider="canned", status_code=429, retry_after=0.0)
        last = request.messages[-1]
        usage = Usage(input_tokens=10, output_tokens=5, total_tokens=15)
        results = [message.content for message in request.messages if message.role == "tool"]
        if results:
            return ChatResponse(content=[TextBlock(text=f"It says {results[-1]}")], usage=usage)
        call = {"id": "c1", "name": "shell", "input": {"command": last.content}}
        return ChatResponse(
            content=[
                ThinkingBlock(thinking="hm", signature="s"),
                ToolCallBlock.model_validate(call),
            ],
            usage=usage,
            finish_reason="tool_use",
        )

    def parse_tool_calls(self, response):
        return [
            ToolCall(id=block.id, name=block.name, arguments=block.input)
            for block in response.content
            if getattr(block, "type", None) == "tool_call"
        ]


async def mount(coordinator, config=None):
    await coordinator.mount("providers", CannedProvider(config or {}), name="canned")

    async def cleanup():
        await coordinator.unmount("providers", "canned")

    return cleanup
