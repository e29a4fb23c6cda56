"""provider-anthropic: Claude models, and any server with a Messages API.

Mounts      a provider, by default under the name "anthropic"
Configure   model, api_key, base_url, max_output_tokens, temperature, timeout, prompt_cache,
            system_messages, headers, extra, name
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Iterator
from typing import Any

from amplifier_core.interfaces import Cleanup, Host
from amplifier_core.llm_errors import ContentFilterError
from amplifier_core.message_models import (
    ChatRequest,
    ContentBlock,
    ImageBlock,
    RedactedThinkingBlock,
    StreamChunk,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    ToolSpec,
    Usage,
)
from amplifier_hooks.agent.providers.conversation import (
    Conversation,
    Thought,
    Utterance,
    arrange,
    build_usage,
    render_output,
)
from amplifier_hooks.agent.providers.failures import Origin
from amplifier_hooks.agent.providers.remote import (
    SYNONYMS,
    RemoteConfig,
    RemoteProvider,
    ReplyBuilder,
    Vendor,
    choose_model,
    choose_output_limit,
    choose_temperature,
    complete_schema,
    follow_events,
    mount_remote,
)
from amplifier_hooks.modules.options import parse_known

_DEFAULT_LIMIT = 8192  # this server refuses a request without one
_VENDOR = Vendor(
    "anthropic",
    "AsyncAnthropic",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL",
    "Anthropic",
    context_window=200_000,
    max_output_tokens=_DEFAULT_LIMIT,
)
_EARLIER = "(The earlier part of the conversation is not shown.)"
_ODD_IN_ID = re.compile(r"[^a-zA-Z0-9_-]")
_FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
}
_COUNTS = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "output_tokens_details",
)


class AnthropicConfig(RemoteConfig):
    """The options of provider-anthropic."""

    name: str = "anthropic"
    model: str = "claude-sonnet-5-5"
    prompt_cache: bool | None = None


class Messages:
    """The Messages protocol."""

    def build_params(
        self, request: ChatRequest, config: AnthropicConfig, base_url: str | None
    ) -> dict[str, Any]:
        """The arguments of `messages.create`."""
        late = config.system_messages or "frame"
        conversation = arrange(request.messages, late, _is_ours)
        temperature = choose_temperature(request, config)
        return {
            "model": choose_model(request, config),
            "max_tokens": choose_output_limit(request, config) or _DEFAULT_LIMIT,
            "system": conversation.system,
            "messages": _write_messages(conversation),
            "tools": [_write_tool(tool) for tool in request.tools or []],
            "tool_choice": _write_choice(request.tool_choice) if request.tools else None,
            # The SDK has no word for it since new models do without; older ones still take it.
            "extra_body": {} if temperature is None else {"temperature": temperature},
            "stop_sequences": request.stop,
            "cache_control": {"type": "ephemeral"} if _is_cached(config, base_url) else None,
        }

    async def send(self, client: Any, params: dict[str, Any]) -> Any:
        """Send it."""
        return await client.messages.create(**params)

    def read_reply(self, answer: Any, origin: Origin) -> Iterator[StreamChunk]:
        """Read a whole message."""
        reply = _Reply(origin)
        reply.add_message_facts(answer)
        for index, block in enumerate(answer.content):
            yield from reply.open_block(index, block)
            if block.type == "tool_use":
                reply.builder.add_facts(index, input=block.input)
        yield from reply.finish()

    def follow_stream(self, events: Any, origin: Origin) -> AsyncGenerator[StreamChunk, None]:
        """Read the events of a message as they arrive."""
        return follow_events(events, _Reply(origin), origin)


class _Reply:
    """A message as it arrives."""

    def __init__(self, origin: Origin) -> None:
        self.builder = ReplyBuilder()
        self.complete = False
        self._origin = origin
        self._counts: dict[str, Any] = {}
        self._stop_reason: str | None = None
        self._model: str | None = None
        self._id: str | None = None

    def feed(self, event: Any) -> Iterator[StreamChunk]:
        if event.type == "content_block_start":
            yield from self.open_block(event.index, event.content_block)
        elif event.type == "content_block_delta":
            yield from self._add_delta(event.index, event.delta)
        elif event.type == "content_block_stop":
            yield from self.builder.close_block()
        elif event.type == "message_start":
            self.add_message_facts(event.message)
        elif event.type == "message_delta":
            self._stop_reason = event.delta.stop_reason or self._stop_reason
            self._add_counts(event.usage)
        elif event.type == "message_stop":
            self.complete = True

    def add_message_facts(self, message: Any) -> None:
        self._id = message.id
        self._model = message.model
        self._stop_reason = message.stop_reason
        self._add_counts(message.usage)

    def open_block(self, index: int, block: Any) -> Iterator[StreamChunk]:
        builder = self.builder
        if block.type == "text":
            yield from builder.add_text(index, "text", block.text or "")
        elif block.type == "thinking":
            yield from builder.add_text(index, "thinking", block.thinking or "")
            builder.add_facts(index, signature=block.signature or None)
        elif block.type == "redacted_thinking":
            yield from builder.open_block(index, "thinking", redacted=block.data)
        elif block.type == "tool_use":
            yield from builder.open_block(index, "tool_call", id=block.id, name=block.name)

    def _add_delta(self, index: int, delta: Any) -> Iterator[StreamChunk]:
        if delta.type == "text_delta":
            yield from self.builder.add_text(index, "text", delta.text)
        elif delta.type == "thinking_delta":
            yield from self.builder.add_text(index, "thinking", delta.thinking)
        elif delta.type == "signature_delta":
            self.builder.add_facts(index, signature=delta.signature)
        elif delta.type == "input_json_delta":
            yield from self.builder.add_text(index, "tool_call", delta.partial_json)

    def finish(self) -> Iterator[StreamChunk]:
        if self._stop_reason == "refusal":
            raise self._origin.make_error(ContentFilterError, "the model refused to answer")
        return self.builder.finish(
            usage=_read_usage(self._counts),
            finish_reason=_FINISH.get(self._stop_reason or "", self._stop_reason),
            model=self._model,
            id=self._id,
        )

    def _add_counts(self, usage: Any) -> None:
        found = {name: getattr(usage, name, None) for name in _COUNTS}
        self._counts.update({name: value for name, value in found.items() if value is not None})


def _read_usage(counts: dict[str, Any]) -> Usage:
    """Add up the counts: our input tokens include those of the cache, theirs do not."""
    read = counts.get("cache_read_input_tokens")
    written = counts.get("cache_creation_input_tokens")
    return build_usage(
        input_tokens=counts.get("input_tokens", 0) + (read or 0) + (written or 0),
        output_tokens=counts.get("output_tokens", 0),
        cache_read_tokens=read,
        cache_write_tokens=written,
        reasoning_tokens=getattr(counts.get("output_tokens_details"), "thinking_tokens", None),
    )


def _is_cached(config: AnthropicConfig, base_url: str | None) -> bool:
    """Whether to ask for caching; by default only the vendor, as other servers may not know it."""
    return base_url is None if config.prompt_cache is None else config.prompt_cache


def _is_ours(block: Thought) -> bool:
    """Whether thinking is signed by this model; it takes back no other."""
    if isinstance(block, RedactedThinkingBlock):
        return True
    facts = block.model_extra or {}
    signed = getattr(block, "signature", None) or facts.get("redacted")
    return "item_id" not in facts and bool(signed)


def _write_messages(conversation: Conversation) -> list[dict[str, Any]]:
    messages = [_write_message(one) for one in conversation.utterances]
    if not messages or messages[0]["role"] != "user":
        messages.insert(0, {"role": "user", "content": _EARLIER})
    last = messages[-1]
    if last["role"] == "assistant" and last["content"][-1]["type"] == "text":
        # The model goes on from here, and the server refuses white space at this place.
        last["content"][-1]["text"] = last["content"][-1]["text"].rstrip()
    return messages


def _write_message(utterance: Utterance) -> dict[str, Any]:
    return {"role": utterance.role, "content": [_write_block(block) for block in utterance.blocks]}


def _write_block(block: ContentBlock) -> dict[str, Any]:
    if isinstance(block, TextBlock):
        return {"type": "text", "text": block.text}
    if isinstance(block, ToolCallBlock):
        call_id = _clean_id(block.id)
        return {"type": "tool_use", "id": call_id, "name": block.name, "input": block.input}
    if isinstance(block, ToolResultBlock):
        return _write_tool_result(block)
    if isinstance(block, ImageBlock):
        return {"type": "image", "source": block.source}
    return _write_thought(block)


def _write_thought(block: Thought) -> dict[str, Any]:
    if isinstance(block, RedactedThinkingBlock):
        return {"type": "redacted_thinking", "data": block.data}
    if redacted := (block.model_extra or {}).get("redacted"):
        return {"type": "redacted_thinking", "data": redacted}
    return {"type": "thinking", **block.model_dump(include={"thinking", "signature"})}


def _write_tool_result(block: ToolResultBlock) -> dict[str, Any]:
    result = {
        "type": "tool_result",
        "tool_use_id": _clean_id(block.tool_call_id),
        "content": render_output(block) or "(no output)",
    }
    return result | ({"is_error": True} if block.is_error else {})


def _clean_id(call_id: str) -> str:
    """Replace the characters in ids of other providers that this one refuses."""
    return _ODD_IN_ID.sub("_", call_id)


def _write_tool(tool: ToolSpec) -> dict[str, Any]:
    spec = {"name": tool.name, "input_schema": complete_schema(tool.parameters)}
    return spec | ({"description": tool.description} if tool.description else {})


def _write_choice(choice: str | dict[str, Any] | None) -> dict[str, Any] | None:
    if choice is None or isinstance(choice, dict):
        return choice
    known = {"auto": "auto", "none": "none", "any": "any", "required": "any"}
    return {"type": known[choice]} if choice in known else {"type": "tool", "name": choice}


async def mount(coordinator: Host, config: dict[str, Any] | None = None) -> Cleanup | None:
    """Mount the provider under its configured name."""
    options = await parse_known(
        coordinator, AnthropicConfig, config, "provider-anthropic", SYNONYMS
    )
    return await mount_remote(coordinator, RemoteProvider(options, _VENDOR, Messages()))
