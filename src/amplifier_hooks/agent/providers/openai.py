"""provider-openai: OpenAI models, and any server with a compatible API.

Mounts      a provider, by default under the name "openai"
Configure   model, api (chat or responses), api_key, base_url, max_output_tokens, temperature,
            timeout, system_messages, headers, extra, name
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterator
from typing import Any, Literal

from amplifier_core.interfaces import Cleanup, Host
from amplifier_core.llm_errors import ContentFilterError, LLMError
from amplifier_core.message_models import (
    ChatRequest,
    ContentBlock,
    ImageBlock,
    StreamChunk,
    TextBlock,
    ThinkingBlock,
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
    write_image_url,
)
from amplifier_hooks.agent.providers.failures import Origin, make_refusal
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
            "tools": [_write_chat_tool(tool) for tool in request.tools or []],
            "tool_choice": _write_chat_choice(request.tool_choice) if request.tools else None,
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
        reply = _ChatReply(origin)
        yield from reply.add(answer, "message")
        yield from reply.finish()

    def follow_stream(self, events: Any, origin: Origin) -> AsyncGenerator[StreamChunk, None]:
        """Read the chunks of a completion as they arrive."""
        return follow_events(events, _ChatReply(origin), origin)


class _ChatReply:
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
        self._model = part.model or self._model
        self._id = part.id or self._id
        if part.usage is not None:
            self._usage = _read_chat_usage(part.usage)
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


def _read_chat_usage(usage: Any) -> Usage:
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


def _write_chat_tool(tool: ToolSpec) -> dict[str, Any]:
    function = {"name": tool.name, "parameters": complete_schema(tool.parameters)}
    if tool.description:
        function["description"] = tool.description
    return {"type": "function", "function": function}


def _write_chat_choice(choice: str | dict[str, Any] | None) -> str | dict[str, Any] | None:
    if choice is None or isinstance(choice, dict) or choice in {"auto", "none", "required"}:
        return choice
    if choice == "any":
        return "required"
    return {"type": "function", "function": {"name": choice}}


class Responses:
    """The Responses protocol. The server stores nothing: the history is sent each time."""

    def build_params(
        self, request: ChatRequest, config: RemoteConfig, base_url: str | None
    ) -> dict[str, Any]:
        """The arguments of `responses.create`."""
        late = config.system_messages or ("frame" if base_url else "keep")
        conversation = arrange(request.messages, late, _is_ours)
        return {
            "model": choose_model(request, config),
            "instructions": conversation.system,
            "input": _write_items(conversation),
            "tools": [_write_tool(tool) for tool in request.tools or []],
            "tool_choice": _write_choice(request.tool_choice) if request.tools else None,
            "temperature": choose_temperature(request, config),
            "max_output_tokens": choose_output_limit(request, config),
            "store": False,
        }

    async def send(self, client: Any, params: dict[str, Any]) -> Any:
        """Send it."""
        return await client.responses.create(**params)

    def read_reply(self, answer: Any, origin: Origin) -> Iterator[StreamChunk]:
        """Read a whole response."""
        reply = _Reply(origin)
        for index, item in enumerate(answer.output):
            yield from reply.add_whole_item(index, item)
        reply.end(answer)
        yield from reply.finish()

    def follow_stream(self, events: Any, origin: Origin) -> AsyncGenerator[StreamChunk, None]:
        """Read the events of a response as they arrive."""
        return follow_events(events, _Reply(origin), origin)


class _Reply:
    """A response as it arrives."""

    def __init__(self, origin: Origin) -> None:
        self.complete = False
        self._origin = origin
        self._builder = ReplyBuilder()
        self._answer: Any = None
        self._summary_part: dict[int, int] = {}

    def feed(self, event: Any) -> Iterator[StreamChunk]:
        kind = event.type
        if kind in {"response.output_text.delta", "response.refusal.delta"}:
            key = (event.output_index, event.content_index)
            yield from self._builder.add_text(key, "text", event.delta)
        elif kind == "response.function_call_arguments.delta":
            yield from self._builder.add_text(event.output_index, "tool_call", event.delta)
        elif kind.startswith("response.reasoning") and kind.endswith(".delta"):
            yield from self._add_thought(event)
        elif kind.startswith("response.output_item."):
            yield from self._add_item(event.output_index, event.item)
        elif kind == "error":
            raise make_refusal(self._origin, None, event.message, f"{event.code} {event.message}")
        elif kind in {"response.completed", "response.incomplete", "response.failed"}:
            self.end(event.response)

    def add_whole_item(self, index: int, item: Any) -> Iterator[StreamChunk]:
        """Read an item that came in one piece."""
        yield from self._add_item(index, item)
        if item.type == "message":
            for part, content in enumerate(item.content):
                text = getattr(content, "text", None) or getattr(content, "refusal", None)
                yield from self._builder.add_text((index, part), "text", text or "")

    def _add_thought(self, event: Any) -> Iterator[StreamChunk]:
        key = event.output_index
        part = getattr(event, "summary_index", 0)
        gap = "\n\n" if part > self._summary_part.get(key, 0) else ""
        self._summary_part[key] = part
        yield from self._builder.add_text(key, "thinking", gap + event.delta)

    def _add_item(self, index: int, item: Any) -> Iterator[StreamChunk]:
        """Read what an item says when it opens and, more completely, when it is done."""
        if item.type == "function_call":
            yield from self._builder.open_block(index, "tool_call", id=item.call_id, name=item.name)
            self._builder.add_facts(index, input=item.arguments)
        elif item.type == "reasoning":
            sealed = item.encrypted_content
            yield from self._builder.open_block(
                index, "thinking", item_id=item.id, signature=sealed
            )
            if not self._builder.get_text(index):
                thought = "\n\n".join(part.text for part in item.summary or item.content or [])
                yield from self._builder.add_text(index, "thinking", thought)

    def end(self, answer: Any) -> None:
        self.complete = True
        self._answer = answer
        if answer.status == "failed":
            raise self._make_error(answer.error)

    def _make_error(self, error: Any) -> LLMError:
        message = getattr(error, "message", None) or "the response failed"
        return make_refusal(self._origin, None, message, f"{getattr(error, 'code', '')} {message}")

    def finish(self) -> Iterator[StreamChunk]:
        answer = self._answer
        reason = getattr(answer.incomplete_details, "reason", None)
        if reason == "content_filter":
            raise self._origin.make_error(
                ContentFilterError, "the provider's filter stopped the reply"
            )
        called = any(item.type == "function_call" for item in answer.output)
        finish_reason = "tool_calls" if called else "stop"
        return self._builder.finish(
            usage=_read_usage(answer.usage),
            finish_reason="length" if reason == "max_output_tokens" else finish_reason,
            model=answer.model,
            id=answer.id,
        )


def _read_usage(usage: Any) -> Usage | None:
    if usage is None:
        return None
    read = getattr(usage.input_tokens_details, "cached_tokens", None)
    thought = getattr(usage.output_tokens_details, "reasoning_tokens", None)
    return build_usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=read,
        reasoning_tokens=thought,
    )


def _is_ours(block: Thought) -> bool:
    """Whether the server can take it back: it stores nothing, so reasoning must be sealed."""
    sealed = isinstance(block, ThinkingBlock) and bool(block.signature)
    return sealed and "item_id" in (block.model_extra or {})


def _write_items(conversation: Conversation) -> list[dict[str, Any]]:
    return [_write_item(one.role, block) for one in conversation.utterances for block in one.blocks]


def _write_item(role: str, block: ContentBlock) -> dict[str, Any]:
    if isinstance(block, TextBlock):
        return {"role": role, "content": block.text}
    if isinstance(block, ToolCallBlock):
        arguments = json.dumps(block.input, ensure_ascii=False)
        call = {"call_id": block.id, "name": block.name, "arguments": arguments}
        return {"type": "function_call"} | call
    if isinstance(block, ToolResultBlock):
        result = {"call_id": block.tool_call_id, "output": render_output(block)}
        return {"type": "function_call_output"} | result
    if isinstance(block, ImageBlock):
        picture = {"type": "input_image", "image_url": write_image_url(block)}
        return {"role": role, "content": [picture]}
    return _write_reasoning(block.model_dump())


def _write_reasoning(thought: dict[str, Any]) -> dict[str, Any]:
    text = thought["thinking"]
    return {
        "type": "reasoning",
        "id": thought["item_id"],
        "summary": [{"type": "summary_text", "text": text}] if text else [],
        "encrypted_content": thought["signature"],
    }


def _write_tool(tool: ToolSpec) -> dict[str, Any]:
    spec = {"name": tool.name, "parameters": complete_schema(tool.parameters), "strict": False}
    if tool.description:
        spec["description"] = tool.description
    return {"type": "function"} | spec


def _write_choice(choice: str | dict[str, Any] | None) -> str | dict[str, Any] | None:
    if choice is None or isinstance(choice, dict) or choice in {"auto", "none", "required"}:
        return choice
    return "required" if choice == "any" else {"type": "function", "name": choice}


# Local servers such as Ollama, vLLM and LM Studio want no key.
_VENDOR = Vendor(
    "openai",
    "AsyncOpenAI",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "OpenAI",
    key_optional_elsewhere=True,
)


class OpenAIConfig(RemoteConfig):
    """The options of provider-openai."""

    name: str = "openai"
    model: str = "gpt-5.5"
    api: Literal["chat", "responses"] = "chat"


async def mount(coordinator: Host, config: dict[str, Any] | None = None) -> Cleanup | None:
    """Mount the provider under its configured name."""
    options = await parse_known(coordinator, OpenAIConfig, config, "provider-openai", SYNONYMS)
    wire = Chat() if options.api == "chat" else Responses()
    return await mount_remote(coordinator, RemoteProvider(options, _VENDOR, wire))
