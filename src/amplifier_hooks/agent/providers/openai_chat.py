"""The Chat Completions protocol."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterator
from typing import Any

from amplifier_core.llm_errors import ContentFilterError
from amplifier_core.message_models import (
    ChatRequest,
    ImageBlock,
    StreamChunk,
    ToolCallBlock,
    ToolResultBlock,
    ToolSpec,
    Usage,
)
from amplifier_hooks.agent.providers.conversation import (
    Conversation,
    Utterance,
    arrange,
    build_usage,
    render_output,
    write_image_url,
)
from amplifier_hooks.agent.providers.failures import Origin, make_refusal
from amplifier_hooks.agent.providers.remote import (
    RemoteConfig,
    ReplyBuilder,
    choose_model,
    choose_output_limit,
    choose_temperature,
    complete_schema,
    follow_events,
)


class Chat:
    """The Chat Completions protocol, as OpenAI and most compatible servers speak it."""

    def build_params(
        self, request: ChatRequest, config: RemoteConfig, base_url: str | None
    ) -> dict[str, Any]:
        """The arguments of `chat.completions.create`."""
        # Templates of open models refuse system messages behind the first; OpenAI takes them.
        late = config.system_messages or ("frame" if base_url else "keep")
        limit = "max_tokens" if base_url else "max_completion_tokens"
        return {
            "model": choose_model(request, config),
            "messages": _write_messages(arrange(request.messages, late)),
            "tools": [_write_tool(tool) for tool in request.tools or []],
            "tool_choice": _write_choice(request.tool_choice) if request.tools else None,
            "temperature": choose_temperature(request, config),
            "stop": request.stop,
            limit: choose_output_limit(request, config),
        }

    async def send(self, client: Any, params: dict[str, Any]) -> Any:
        """Send it."""
        if params.get("stream"):
            params = params | {"stream_options": {"include_usage": True}}
        return await client.chat.completions.create(**params)

    def read_reply(self, answer: Any, origin: Origin) -> Iterator[StreamChunk]:
        """Read a whole completion."""
        if error := getattr(answer, "error", None):  # some gateways say so with status 200
            raise make_refusal(origin, None, str(error.get("message") or error), str(error))
        reply = _Reply(origin)
        yield from reply.add(answer, "message")
        yield from reply.finish()

    def follow_stream(self, events: Any, origin: Origin) -> AsyncGenerator[StreamChunk, None]:
        """Read the chunks of a completion as they arrive."""
        return follow_events(events, _Reply(origin), origin)


class _Reply:
    """A completion as it arrives."""

    def __init__(self, origin: Origin) -> None:
        self._finish_reason: str | None = None
        self._origin = origin
        self._builder = ReplyBuilder()
        self._usage: Usage | None = None
        self._model: str | None = None
        self._id: str | None = None

    @property
    def complete(self) -> bool:
        """Whether the model said why it stopped."""
        return self._finish_reason is not None

    def feed(self, event: Any) -> Iterator[StreamChunk]:
        """Read one chunk of a stream."""
        return self.add(event, "delta")

    def add(self, part: Any, field: str) -> Iterator[StreamChunk]:
        """Read a completion, or a part of one."""
        self._model, self._id = part.model or self._model, part.id or self._id
        if part.usage is not None:
            self._usage = _read_usage(part.usage)
        for choice in part.choices[:1]:
            yield from self._add_delta(getattr(choice, field))
            self._finish_reason = choice.finish_reason or self._finish_reason

    def _add_delta(self, said: Any) -> Iterator[StreamChunk]:
        # Open models think in fields that OpenAI does not have.
        thought = getattr(said, "reasoning_content", None) or getattr(said, "reasoning", None)
        if isinstance(thought, str) and thought:
            yield from self._builder.add_text("thinking", "thinking", thought)
        for text in (said.content, said.refusal):
            if text:
                yield from self._builder.add_text("text", "text", text)
        for position, call in enumerate(said.tool_calls or []):
            yield from self._add_call(call, position)

    def _add_call(self, call: Any, position: int) -> Iterator[StreamChunk]:
        index = getattr(call, "index", None)
        key = ("call", position if index is None else index)
        function = call.function
        name = getattr(function, "name", None) or None
        yield from self._builder.open_block(key, "tool_call", id=call.id or None, name=name)
        written = getattr(function, "arguments", None)
        if isinstance(written, str):
            yield from self._builder.add_text(key, "tool_call", written)
        else:  # not what the protocol says, but what some servers do
            self._builder.add_facts(key, input=written)

    def finish(self) -> Iterator[StreamChunk]:
        if self._finish_reason == "content_filter":
            raise self._origin.make_error(
                ContentFilterError, "the provider's filter stopped the reply"
            )
        return self._builder.finish(
            usage=self._usage,
            finish_reason=self._finish_reason,
            model=self._model,
            id=self._id,
        )


def _read_usage(usage: Any) -> Usage:
    read = getattr(getattr(usage, "prompt_tokens_details", None), "cached_tokens", None)
    thought = getattr(getattr(usage, "completion_tokens_details", None), "reasoning_tokens", None)
    return build_usage(
        input_tokens=usage.prompt_tokens or 0,
        output_tokens=usage.completion_tokens or 0,
        cache_read_tokens=read,
        reasoning_tokens=thought,
    )


def _write_messages(conversation: Conversation) -> list[dict[str, Any]]:
    messages = [{"role": "system", "content": conversation.system}] if conversation.system else []
    for utterance in conversation.utterances:
        messages += _write_utterance(utterance)
    return messages


def _write_utterance(utterance: Utterance) -> Iterator[dict[str, Any]]:
    if utterance.role == "assistant":
        yield _write_assistant(utterance)
        return
    for block in utterance.blocks:
        if isinstance(block, ToolResultBlock):
            yield _write_tool_result(block)
    pictures = [_write_picture(one) for one in utterance.blocks if isinstance(one, ImageBlock)]
    if pictures:
        words = [{"type": "text", "text": utterance.text}] if utterance.text else []
        yield {"role": utterance.role, "content": words + pictures}
    elif utterance.text:
        yield {"role": utterance.role, "content": utterance.text}


def _write_picture(block: ImageBlock) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": write_image_url(block)}}


def _write_assistant(utterance: Utterance) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": utterance.text or None}
    calls = [_write_call(block) for block in utterance.blocks if isinstance(block, ToolCallBlock)]
    return message | ({"tool_calls": calls} if calls else {})


def _write_call(block: ToolCallBlock) -> dict[str, Any]:
    function = {"name": block.name, "arguments": json.dumps(block.input, ensure_ascii=False)}
    return {"id": block.id, "type": "function", "function": function}


def _write_tool_result(block: ToolResultBlock) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": block.tool_call_id, "content": render_output(block)}


def _write_tool(tool: ToolSpec) -> dict[str, Any]:
    function = {"name": tool.name, "parameters": complete_schema(tool.parameters)}
    if tool.description:
        function["description"] = tool.description
    return {"type": "function", "function": function}


def _write_choice(choice: str | dict[str, Any] | None) -> str | dict[str, Any] | None:
    if choice is None or isinstance(choice, dict) or choice in {"auto", "none", "required"}:
        return choice
    if choice == "any":
        return "required"
    return {"type": "function", "function": {"name": choice}}
