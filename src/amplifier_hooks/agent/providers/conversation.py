"""Putting a history into the order that every wire protocol accepts.

Hooks put system messages anywhere, sessions are cut off in the middle of a tool call, and a
compaction may leave an answer without its question. Here each tool call is followed by its result,
everything that came between comes after it, and utterances of the same role become one.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile
from typing import Any, Literal
from uuid import uuid4

from amplifier_core.message_models import (
    ChatResponse,
    ContentBlock,
    ImageBlock,
    Message,
    ReasoningBlock,
    RedactedThinkingBlock,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolCallBlock,
    ToolResultBlock,
    Usage,
    extract_text,
)
from amplifier_core.utils.conversation import NO_CALL
from amplifier_core.utils.conversation import NO_RESULT as NO_RESULT
from amplifier_hooks.machine.text import clip_text


def read_call(id: str | None, name: str, arguments: Any) -> ToolCall:
    """A call, with `parse_error` instead of an exception when the arguments cannot be read."""
    call_id = id or f"call_{uuid4().hex[:24]}"
    try:
        value = json.loads(arguments or "{}") if isinstance(arguments, str | None) else arguments
    except (ValueError, RecursionError) as failure:
        return _make_unreadable(call_id, name, arguments, failure)
    if isinstance(value, dict):
        return ToolCall(id=call_id, name=name, arguments=value)
    problem = f"a JSON object is needed, not {type(value).__name__}"
    return _make_unreadable(call_id, name, arguments, problem)


def _make_unreadable(call_id: str, name: str, arguments: Any, problem: object) -> ToolCall:
    shown = clip_text(str(arguments), 200)
    sentence = f"The arguments for {name!r} cannot be read ({problem}): {shown}"
    return ToolCall(id=call_id, name=name, arguments={}, parse_error=sentence)


def find_calls(response: ChatResponse) -> list[ToolCall]:
    """The tool calls of a reply, wherever it keeps them."""
    if response.tool_calls is not None:
        return list(response.tool_calls)
    blocks = (block for block in response.content if isinstance(block, ToolCallBlock))
    return [ToolCall(id=block.id, name=block.name, arguments=block.input) for block in blocks]


def list_stored_calls(message: Message) -> list[ToolCall]:
    """The calls that a loop stored beside the content of a reply, in whatever form it writes."""
    stored = (message.model_extra or {}).get("tool_calls")
    return [_read_stored(call) for call in stored] if isinstance(stored, list) else []


def _read_stored(call: Any) -> ToolCall:
    if isinstance(call, ToolCall):
        return call
    facts = call if isinstance(call, Mapping) else {}
    if isinstance(function := facts.get("function"), Mapping):
        facts = {**facts, **function}
    name = facts.get("name") or facts.get("tool") or ""
    return read_call(facts.get("id"), str(name), facts.get("arguments", facts.get("input")))


def complete_counts(counts: Mapping[str, Any]) -> dict[str, Any]:
    """The counts with what is missing: none is zero, and the total is the sum."""
    filled = {"input_tokens": 0, "output_tokens": 0, **counts}
    if not filled.get("total_tokens"):
        parts = (filled["input_tokens"], filled["output_tokens"])
        filled["total_tokens"] = sum(part for part in parts if isinstance(part, int))
    return filled


def build_usage(**counts: Any) -> Usage:
    """The usage of one call, of whatever was counted."""
    return Usage.model_validate(complete_counts(counts))


SystemMessages = Literal["keep", "frame"]
Thought = ThinkingBlock | RedactedThinkingBlock | ReasoningBlock

_PICTURES = "From the result"
_FRAME = re.compile(r"<(?=/?system-note\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Utterance:
    """Consecutive blocks of one role. Results of tools are blocks of the user's."""

    role: Literal["system", "user", "assistant"]
    blocks: tuple[ContentBlock, ...]

    @property
    def text(self) -> str:
        """The readable part."""
        return "\n\n".join(b.text for b in self.blocks if isinstance(b, TextBlock) and b.text)


@dataclass(frozen=True, slots=True)
class Conversation:
    """The leading system messages, and the utterances after them."""

    system: str
    utterances: tuple[Utterance, ...]


def arrange(
    messages: Sequence[Message],
    late: SystemMessages = "frame",
    sends: Callable[[Thought], bool] = lambda block: False,
) -> Conversation:
    """Put a history in order; system messages that come late keep their place.

    `late` says in which form: "keep" leaves them system messages, "frame" makes them marked text of
    the user's. `sends` tells which thinking this server wants back; that of others is dropped.
    """
    leading = list(takewhile(_is_system, messages))
    spoken = _split_into_utterances(messages[len(leading) :])
    utterances = [kept for one in spoken if (kept := _drop_thinking(one, sends)).blocks]
    if late == "frame":
        utterances = [_frame(one) for one in utterances]
    system = "\n\n".join(
        text for message in leading if (text := extract_text(message.content).strip())
    )
    return Conversation(system, tuple(_merge(utterances)))


def _drop_thinking(utterance: Utterance, sends: Callable[[Thought], bool]) -> Utterance:
    kept = (b for b in utterance.blocks if not isinstance(b, Thought) or sends(b))
    return Utterance(utterance.role, tuple(kept))


def _is_system(message: Message) -> bool:
    return message.role in {"system", "developer"}


def _split_into_utterances(messages: Iterable[Message]) -> Iterator[Utterance]:
    waiting = deque(messages)
    while waiting:
        message = waiting.popleft()
        yield _read_utterance(message)
        if message.role == "assistant":
            yield from _pair_results(_find_calls(message), _pop_until_reply(waiting))


def _pop_until_reply(waiting: deque[Message]) -> list[Message]:
    window = []
    while waiting and waiting[0].role != "assistant":
        window.append(waiting.popleft())
    return window


def _pair_results(calls: list[ToolCallBlock], window: list[Message]) -> Iterator[Utterance]:
    """The results in the order of the calls, then whatever else came between them."""
    results = {block.tool_call_id: block for message in window for block in _find_results(message)}
    answers = (results.get(call.id) or _make_lost_result(call) for call in calls)
    yield Utterance("user", tuple(answers))
    answered = {call.id for call in calls}
    yield from (_read_utterance(message, answered) for message in window)


def _make_lost_result(call: ToolCallBlock) -> ToolResultBlock:
    return ToolResultBlock(tool_call_id=call.id, output=NO_RESULT, is_error=True)


def _read_utterance(message: Message, answered: Iterable[str] = ()) -> Utterance:
    if message.role == "assistant":
        return Utterance("assistant", tuple(_read_spoken(message)))
    results = [block for block in _find_results(message) if block.tool_call_id not in answered]
    blocks = [*map(_describe_orphan, results), *_find_shown(message)]
    return Utterance("system" if _is_system(message) else "user", tuple(blocks))


def _read_spoken(message: Message) -> Iterator[ContentBlock]:
    yield from (b for b in _read_blocks(message) if isinstance(b, TextBlock | Thought))
    yield from _find_calls(message)


def _find_calls(message: Message) -> list[ToolCallBlock]:
    """The calls of a reply, once each: they may be in its content, in tool_calls, or in both."""
    calls = {b.id: b for b in _read_blocks(message) if isinstance(b, ToolCallBlock)}
    for call in list_stored_calls(message):
        block = ToolCallBlock(id=call.id, name=call.name, input=call.arguments)
        calls.setdefault(call.id, block)
    return list(calls.values())


def _find_results(message: Message) -> list[ToolResultBlock]:
    if message.role in {"tool", "function"} and message.tool_call_id:
        return [_read_result(message, message.tool_call_id)]
    return [block for block in _read_blocks(message) if isinstance(block, ToolResultBlock)]


def _read_result(message: Message, call_id: str) -> ToolResultBlock:
    for block in _read_blocks(message):
        if isinstance(block, ToolResultBlock):
            return block.model_copy(update={"tool_call_id": call_id})
    facts = message.metadata or {}
    failed = bool(facts.get("is_error")) or facts.get("success") is False
    return ToolResultBlock(tool_call_id=call_id, output=message.text, is_error=failed)


def _find_shown(message: Message) -> list[TextBlock | ImageBlock]:
    if message.role in {"tool", "function"} and message.tool_call_id:
        return _find_pictures(message)
    shown = TextBlock if _is_system(message) else TextBlock | ImageBlock
    return [block for block in _read_blocks(message) if isinstance(block, shown)]


def _find_pictures(message: Message) -> list[TextBlock | ImageBlock]:
    """The pictures of a tool's result, which not every protocol takes inside of it."""
    pictures = [block for block in _read_blocks(message) if isinstance(block, ImageBlock)]
    of = f" of {message.name}" if message.name else ""
    return [TextBlock(text=f"{_PICTURES}{of}:"), *pictures] if pictures else []


def _read_blocks(message: Message) -> list[ContentBlock]:
    content = message.content
    if isinstance(content, list):
        return [block for block in content if not _is_blank(block)]
    return [TextBlock(text=content)] if content and content.strip() else []


def _is_blank(block: ContentBlock) -> bool:
    return isinstance(block, TextBlock) and not block.text.strip()


def _describe_orphan(block: ToolResultBlock) -> TextBlock:
    return TextBlock(text=f"{NO_CALL}\n{render_output(block)}")


def render_output(block: ToolResultBlock) -> str:
    """The text of a tool's answer."""
    if isinstance(block.output, str):
        return block.output
    return json.dumps(block.output, ensure_ascii=False, default=str)


def write_image_url(block: ImageBlock) -> str:
    """Where the picture is: its address, or all of it in one."""
    source = block.source
    if url := source.get("url"):
        return str(url)
    return f"data:{source.get('media_type', 'image/png')};base64,{source.get('data', '')}"


def _frame(utterance: Utterance) -> Utterance:
    if utterance.role == "system":
        text = f"<system-note>\n{_escape_frame(utterance.text)}\n</system-note>"
        return Utterance("user", (TextBlock(text=text),))
    if utterance.role == "user":
        return Utterance("user", tuple(_escape_block(block) for block in utterance.blocks))
    return utterance


def _escape_frame(text: str) -> str:
    """Keep what a tool or a person wrote from opening or closing the frame of a system message."""
    return _FRAME.sub("<\\\\", text)


def _escape_block(block: ContentBlock) -> ContentBlock:
    if isinstance(block, TextBlock) and _FRAME.search(block.text):
        return block.model_copy(update={"text": _escape_frame(block.text)})
    if isinstance(block, ToolResultBlock) and _FRAME.search(text := render_output(block)):
        return block.model_copy(update={"output": _escape_frame(text)})
    return block


def _merge(utterances: Iterable[Utterance]) -> Iterator[Utterance]:
    for role, group in groupby(utterances, key=lambda utterance: utterance.role):
        blocks: list[Any] = [block for utterance in group for block in utterance.blocks]
        yield Utterance(role, tuple(blocks))
