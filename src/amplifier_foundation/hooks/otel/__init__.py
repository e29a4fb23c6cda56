"""hooks-otel: export the run as OpenTelemetry spans and metrics, in the GenAI names.

Listens to  the events of sessions, turns, model calls, tools, hooks and approvals
Answers     continue
Configure   endpoint, headers, service_name, agent_name, capture_content, timeout, interval
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from amplifier_core import events
from amplifier_core.interfaces import Cleanup
from amplifier_core.models import HookResult
from amplifier_foundation.hooks.otel import genai_names as names
from amplifier_foundation.hooks.otel.pipeline import Pipeline, Target, acquire, release
from amplifier_foundation.hooks.otel.span_tree import SessionSpans, SpanTree
from amplifier_foundation.machine.json_text import encode_json
from amplifier_foundation.machine.text import to_one_line
from amplifier_foundation.machine.webhook import check_url
from amplifier_foundation.modules.options import parse_config
from amplifier_foundation.modules.scrubbing import scrubbed
from amplifier_foundation.modules.subscription import session_of, subscribe

NAME = "hooks-otel"

logger = logging.getLogger(__name__)

_FLUSH_SECONDS = 5.0
_FIRST = -1000
_LAST = 1000


class Config(BaseModel):
    """The options of hooks-otel."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    endpoint: str | None = None
    headers: dict[str, str] = Field(default_factory=dict)
    service_name: str = Field("amplifier", min_length=1)
    agent_name: str = Field("amplifier", min_length=1)
    capture_content: bool = False
    max_content_length: int = Field(8192, ge=100)
    timeout: float = Field(5.0, gt=0, le=60)
    interval: float = Field(5.0, gt=0, le=3600)

    @field_validator("endpoint")
    @classmethod
    def _usable(cls, value: str | None) -> str | None:
        return None if value is None else check_url(value)


Data = dict[str, Any]
Step = Callable[[Data], None]


class Telemetry:
    """Turns events into spans, span events and metrics."""

    def __init__(self, coordinator: Any, config: Config, pipeline: Pipeline) -> None:
        self._coordinator = coordinator
        self._config = config
        self._pipeline = pipeline
        self.tree = SpanTree(pipeline, config.agent_name)
        # Opened before a guard can refuse the operation, closed after the last hook changed it.
        self.first: dict[str, Step] = {
            events.SESSION_START: self._session_start,
            events.SESSION_FORK: self._fork,
            events.AGENT_SPAWN: self._fork,
            events.PROMPT_SUBMIT: self._turn_start,
            events.PROVIDER_REQUEST: self._chat_start,
            events.TOOL_PRE: self._tool_start,
            events.POLICY_VIOLATION: self._denied,
            events.APPROVAL_REQUIRED: self._approval_required,
            events.APPROVAL_GRANTED: self._approval_granted,
            events.APPROVAL_DENIED: self._approval_denied,
            events.PROVIDER_RETRY: self._retry,
            events.CONTEXT_POST_COMPACT: self._compacted,
        }
        self.last: dict[str, Step] = {
            events.PROVIDER_RESPONSE: self._chat_end,
            events.PROVIDER_ERROR: self._chat_failed,
            events.TOOL_POST: self._tool_end,
            events.TOOL_ERROR: self._tool_failed,
            events.ORCHESTRATOR_COMPLETE: self._turn_end,
            events.SESSION_END: self._session_end,
        }
        if config.capture_content:
            self.last[events.PROVIDER_REQUEST] = self._chat_messages

    async def on_first(self, event: str, data: Data) -> HookResult:
        self.first[events.canonical(event)](data)
        return HookResult(action="continue")

    async def on_last(self, event: str, data: Data) -> HookResult:
        self.last[events.canonical(event)](data)
        return HookResult(action="continue")

    def _spans(self, data: Data) -> SessionSpans:
        parent = data.get("parent_id")
        return self.tree.session(
            session_of(self._coordinator, data), str(parent) if parent else None
        )

    def _session_start(self, data: Data) -> None:
        self._spans(data)

    def _fork(self, data: Data) -> None:
        """session:fork names the child itself, agent:spawn only the parent that will have it."""
        if agent := data.get("agent_name"):
            self.tree.name_agent(session_of(self._coordinator, data), to_one_line(agent, 100))

    def _session_end(self, data: Data) -> None:
        spans = self._spans(data)
        reason = to_one_line(data.get("reason") or "complete", 40)
        if spans.session is not None:
            spans.session.set_attribute(names.SESSION_REASON, reason)
        failed = reason if reason in {"error", "timeout"} else None
        self.tree.close_session(spans.session_id, failed)

    def _turn_start(self, data: Data) -> None:
        self.tree.open_turn(self._spans(data))

    def _turn_end(self, data: Data) -> None:
        spans = self._spans(data)
        status = to_one_line(data.get("status") or "success", 40)
        if spans.turn is not None:
            spans.turn.set_attribute(names.TURN_STATUS, status)
        self.tree.close_turn(spans, None if status == "success" else status)

    def _chat_start(self, data: Data) -> None:
        provider = names.provider_name(to_one_line(data.get("provider") or "unknown", 100))
        model = to_one_line(data.get("model") or "unknown", 100)
        self.tree.open_chat(self._spans(data), provider, model)

    def _chat_messages(self, data: Data) -> None:
        chat = self._spans(data).chat
        if chat is not None:
            self._capture(chat.span, names.INPUT_MESSAGES, data.get("messages"))

    def _chat_end(self, data: Data) -> None:
        spans = self._spans(data)
        chat = spans.chat
        if chat is None:
            return
        response = data.get("response")
        response = response if isinstance(response, dict) else {}
        chat.span.set_attributes(_described(response, data.get("usage")))
        self._capture(chat.span, names.OUTPUT_MESSAGES, response)
        for kind, count in _tokens(data.get("usage")).items():
            attributes = {**chat.attributes, names.TOKEN_TYPE: kind}
            self._pipeline.token_usage.record(count, attributes)
        self.tree.close_chat(spans, None)

    def _chat_failed(self, data: Data) -> None:
        self.tree.close_chat(self._spans(data), _error_type(data))

    def _tool_start(self, data: Data) -> None:
        tool = to_one_line(data.get("tool_name") or "unknown", 100)
        self.tree.open_tool(self._spans(data), tool, _call_id(data))

    def _tool_end(self, data: Data) -> None:
        spans, call_id = self._spans(data), _call_id(data)
        if (tool := spans.tools.get(call_id)) is not None:
            self._capture(tool.span, names.TOOL_ARGUMENTS, data.get("tool_input"))
            self._capture(tool.span, names.TOOL_RESULT, data.get("tool_result"))
        failed = data.get("success") is False
        self.tree.close_tool(spans, call_id, "tool_failed" if failed else None)

    def _tool_failed(self, data: Data) -> None:
        self.tree.close_tool(self._spans(data), _call_id(data), _error_type(data))

    def _denied(self, data: Data) -> None:
        """What a hook refused has no other end than this event."""
        spans = self._spans(data)
        event = to_one_line(data.get("event") or "unknown", 60)
        what = {
            names.HOOK: to_one_line(data.get("hook") or "unknown", 100),
            names.HOOK_EVENT: event,
        }
        self._pipeline.denials.add(1, what)
        self._happened(spans, "hook.denied", what, {names.REASON: data.get("reason")})
        if event in (events.TOOL_PRE, events.TOOL_POST):
            self._close_denied_tool(spans, data)
        elif event in (events.PROVIDER_REQUEST, events.PROVIDER_RESPONSE):
            self.tree.close_chat(spans, "denied")
        elif event == events.PROMPT_SUBMIT:
            self.tree.close_turn(spans, "denied")

    def _close_denied_tool(self, spans: SessionSpans, data: Data) -> None:
        denied = spans.tools.get(_call_id(data)) or spans.tool_of_task()
        for call_id in [key for key, tool in spans.tools.items() if tool is denied]:
            self.tree.close_tool(spans, call_id, "denied")

    def _approval_required(self, data: Data) -> None:
        self._approval("approval.required", data)

    def _approval_granted(self, data: Data) -> None:
        self._count_approval("granted", data)
        self._approval("approval.granted", data)

    def _approval_denied(self, data: Data) -> None:
        self._count_approval("denied", data)
        self._approval("approval.denied", data)

    def _count_approval(self, decision: str, data: Data) -> None:
        hook = to_one_line(data.get("hook") or "unknown", 100)
        self._pipeline.approvals.add(1, {names.HOOK: hook, names.APPROVAL_DECISION: decision})

    def _approval(self, event: str, data: Data) -> None:
        keys = {names.HOOK: "hook", names.APPROVAL_HOW: "how", names.DIGEST: "digest"}
        what = {name: to_one_line(data[key], 200) for name, key in keys.items() if data.get(key)}
        said = {
            names.APPROVAL_PROMPT: data.get("prompt"),
            names.APPROVAL_DECISION: data.get("decision"),
        }
        self._happened(self._spans(data), event, what, said)

    def _retry(self, data: Data) -> None:
        what = {
            names.PREFIX + key: data[key]
            for key in ("attempt", "delay_ms")
            if _is_number(data.get(key))
        }
        self._happened(
            self._spans(data), "provider.retry", {**what, names.ERROR_TYPE: _error_type(data)}, {}
        )

    def _compacted(self, data: Data) -> None:
        keys = ("tokens_before", "tokens_after", "messages_before", "messages_after")
        what = {names.PREFIX + key: data[key] for key in keys if _is_number(data.get(key))}
        self._happened(self._spans(data), "context.compacted", what, {})

    def _happened(self, spans: SessionSpans, event: str, what: Data, said: Data) -> None:
        """A span event; what people or models said is in it only on request."""
        span = spans.innermost()
        if span is None:
            return
        if self._config.capture_content:
            limit = self._config.max_content_length
            clean = scrubbed(self._coordinator, said)
            what = {
                **what,
                **{key: to_one_line(text, limit) for key, text in clean.items() if text},
            }
        span.add_event(names.PREFIX + event, what)

    def _capture(self, span: Any, name: str, value: Any) -> None:
        if self._config.capture_content and value is not None:
            text = encode_json(scrubbed(self._coordinator, value)).decode("ascii")
            span.set_attribute(name, text[: self._config.max_content_length])


def _call_id(data: Data) -> str:
    """Loops that give their calls no id run them one after the other."""
    return to_one_line(data.get("tool_call_id") or data.get("tool_name") or "unknown", 200)


def _error_type(data: Data) -> str:
    error = data.get("error")
    kind = error.get("type") if isinstance(error, dict) else type(error).__name__
    return to_one_line(kind or "unknown", 100)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _count(usage: Any, *keys: str) -> int | None:
    if not isinstance(usage, dict):
        return None
    found = next((usage[key] for key in keys if _is_number(usage.get(key))), None)
    return None if found is None else max(int(found), 0)


def _tokens(usage: Any) -> dict[str, int]:
    counts = {"input": _count(usage, "input_tokens"), "output": _count(usage, "output_tokens")}
    return {kind: count for kind, count in counts.items() if count is not None}


def _described(response: Data, usage: Any) -> Data:
    """What a reply's span says about it."""
    counts = {
        names.INPUT_TOKENS: _count(usage, "input_tokens"),
        names.OUTPUT_TOKENS: _count(usage, "output_tokens"),
        names.CACHE_READ_TOKENS: _count(usage, "cache_read_tokens"),
        names.CACHE_CREATION_TOKENS: _count(usage, "cache_write_tokens"),
    }
    told: Data = {name: count for name, count in counts.items() if count is not None}
    if model := response.get("model"):
        told[names.RESPONSE_MODEL] = to_one_line(model, 100)
    if reason := response.get("finish_reason"):
        told[names.FINISH_REASONS] = [to_one_line(reason, 100)]
    return told


async def mount(coordinator: Any, config: dict[str, Any] | None = None) -> Cleanup:
    """Begin to listen; clean-up ends the open spans and sends what is waiting."""
    settings = parse_config(Config, config, NAME)
    target = Target(
        settings.endpoint,
        tuple(sorted(settings.headers.items())),
        settings.service_name,
        settings.timeout,
        settings.interval,
    )
    pipeline = await asyncio.to_thread(acquire, target)
    telemetry = Telemetry(coordinator, settings, pipeline)
    removals = [
        subscribe(
            coordinator, NAME, _FIRST, [(event, telemetry.on_first) for event in telemetry.first]
        ),
        subscribe(
            coordinator, NAME, _LAST, [(event, telemetry.on_last) for event in telemetry.last]
        ),
    ]

    async def cleanup() -> None:
        for remove in removals:
            remove()
        telemetry.tree.close()
        try:
            async with asyncio.timeout(_FLUSH_SECONDS):
                await asyncio.to_thread(release, pipeline, _FLUSH_SECONDS)
        except TimeoutError:
            logger.warning("%s gave up its last spans: the collector did not answer", NAME)

    return cleanup
