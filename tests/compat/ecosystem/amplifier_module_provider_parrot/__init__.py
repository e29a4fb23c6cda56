"""provider-parrot: says what its config tells it to say, the way a provider of a service does."""

import time
from decimal import Decimal

from amplifier_core import (
    ChatResponse,
    ConfigField,
    ModelInfo,
    ProviderInfo,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolCallBlock,
    Usage,
    capabilities,
)
from amplifier_core.content_models import TextContent, ThinkingContent, ToolCallContent
from amplifier_core.events import LLM_REQUEST, LLM_RESPONSE, PROVIDER_RETRY
from amplifier_core.llm_errors import RateLimitError
from amplifier_core.utils import redact_secrets
from amplifier_core.utils.retry import RetryConfig, retry_with_backoff

__amplifier_module_type__ = "provider"

LIMITS: dict = {"context_window": 100_000, "max_output_tokens": 4_000}


class ParrotProvider:
    name = "parrot"
    api_label = "Parrot"

    def __init__(self, config, coordinator=None):
        self.config = config
        self.coordinator = coordinator
        self.replies = list(config.get("replies", []))
        self.failures = config.get("failures", 0)
        self.calls = 0
        self.closed = False

    def get_info(self):
        return ProviderInfo(
            id="parrot",
            display_name="Parrot",
            credential_env_vars=["PARROT_API_KEY"],
            capabilities=[capabilities.TOOLS, capabilities.LOCAL],
            defaults={"model": "grey", **LIMITS},
            config_fields=[
                ConfigField(
                    id="api_key",
                    display_name="API Key",
                    field_type="secret",
                    prompt="Enter the key",
                    env_var="PARROT_API_KEY",
                )
            ],
        )

    async def list_models(self):
        return [
            ModelInfo(
                id="grey",
                display_name="Grey",
                capabilities=[capabilities.TOOLS],
                defaults={"temperature": 0.7},
                **LIMITS,
            )
        ]

    async def complete(self, request, **kwargs):
        await self._emit(
            LLM_REQUEST,
            {
                "provider": self.name,
                "model": "grey",
                "message_count": len(request.messages),
                "raw": redact_secrets(self.config),
            },
        )
        started = time.time()
        response = await retry_with_backoff(
            self._fetch,
            RetryConfig(max_retries=2, initial_delay=0.0, jitter=False),
            on_retry=self._tell_of_retry,
        )
        await self._emit(
            LLM_RESPONSE,
            {
                "provider": self.name,
                "model": "grey",
                "status": "ok",
                "duration_ms": int((time.time() - started) * 1000),
                "usage": {
                    "input": response.usage.input_tokens,
                    "output": response.usage.output_tokens,
                },
            },
        )
        return response

    async def _emit(self, event, data):
        if self.coordinator and hasattr(self.coordinator, "hooks"):
            await self.coordinator.hooks.emit(event, data)

    async def _tell_of_retry(self, attempt, delay, error):
        data = {"provider": self.name, "attempt": attempt, "delay": delay, "error": str(error)}
        await self._emit(PROVIDER_RETRY, data)

    async def _fetch(self):
        if self.failures:
            self.failures -= 1
            raise RateLimitError("slow down", provider=self.name, status_code=429)
        reply = self.replies.pop(0) if self.replies else "Nothing more to say."
        if isinstance(reply, str):
            return self._build([TextBlock(text=reply)], [TextContent(text=reply)], "end_turn")
        blocks: list = [ThinkingBlock(thinking="Let me see.", signature="signed")]
        contents: list = [ThinkingContent(text="Let me see.")]
        for name, arguments in reply:
            self.calls += 1
            call = {"id": f"parrot_{self.calls}", "name": name}
            blocks.append(ToolCallBlock(**call, input=arguments))
            contents.append(ToolCallContent(**call, arguments=arguments))
        return self._build(blocks, contents, "tool_use")

    def _build(self, blocks, contents, reason):
        usage = Usage(input_tokens=10, output_tokens=5, total_tokens=15, cost_usd=Decimal("0.0001"))
        return ChatResponse(
            content=blocks,
            usage=usage,
            finish_reason=reason,
            content_blocks=contents,
        )

    def parse_tool_calls(self, response):
        return [
            ToolCall(id=block.id, name=block.name, arguments=block.input)
            for block in response.content
            if block.type == "tool_call"
        ]


async def mount(coordinator, config=None):
    provider = ParrotProvider(config or {}, coordinator)
    await coordinator.mount("providers", provider, name="parrot")

    async def cleanup():
        provider.closed = True

    return cleanup
