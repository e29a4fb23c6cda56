"""Turns events into spans, span events and metrics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from amplifier_core import events
from amplifier_core.interfaces import Host
from amplifier_core.models import HookResult
from amplifier_hooks.guards.otel.config import Config
from amplifier_hooks.guards.otel.genai_names import PREFIX, Attribute, normalize_provider
from amplifier_hooks.guards.otel.hook_metrics import record_hooks
from amplifier_hooks.guards.otel.pipeline import Pipeline
from amplifier_hooks.guards.otel.reply import count_tokens, describe_reply, is_number
from amplifier_hooks.guards.otel.span_tree import SessionSpans, SpanTree
from amplifier_hooks.machine.json_text import encode_json
from amplifier_hooks.machine.text import to_one_line
from amplifier_hooks.modules.subscription import get_session_id

Data = dict[str, Any]
Step = Callable[[Data], None]


class Telemetry:
    """Turns events into spans, span events and metrics."""

    def __init__(self, coordinator: Host, config: Config, pipeline: Pipeline) -> None:
        self._coordinator = coordinator
        self._config = config
        self._pipeline = pipeline
        self.tree = SpanTree(pipeline, config.agent_name)
        # Opened before a guard can refuse the operation, closed after the last hook changed it.
        self.first: dict[str, Step] = {
            events.SESSION_START: self._start_session,
            events.SESSION_FORK: self._name_agent,
            events.AGENT_SPAWN: self._name_agent,
            events.PROMPT_SUBMIT: self._start_turn,
            events.PROVIDER_REQUEST: self._start_chat,
            events.TOOL_PRE: self._start_tool,
            events.POLICY_VIOLATION: self._record_denial,
            events.APPROVAL_REQUIRED: self._require_approval,
            events.APPROVAL_GRANTED: self._grant_approval,
            events.APPROVAL_DENIED: self._deny_approval,
            events.PROVIDER_RETRY: self._record_retry,
            events.CONTEXT_POST_COMPACT: self._record_compaction,
        }
        self.last: dict[str, Step] = {
            events.PROVIDER_RESPONSE: self._end_chat,
            events.PROVIDER_ERROR: self._fail_chat,
            events.TOOL_POST: self._end_tool,
            events.TOOL_ERROR: self._fail_tool,
            events.ORCHESTRATOR_COMPLETE: self._end_turn,
            events.SESSION_END: self._end_session,
        }
        if config.capture_content:
            self.last[events.PROVIDER_REQUEST] = self._capture_messages

    async def on_first(self, event: str, data: Data) -> HookResult:
        self.first[events.canonical(event)](data)
        return HookResult(action="continue")

    async def on_last(self, event: str, data: Data) -> HookResult:
        self.last[events.canonical(event)](data)
        return HookResult(action="continue")

    def _find_spans(self, data: Data) -> SessionSpans:
        parent = data.get("parent_id")
        return self.tree.get_session(
            get_session_id(self._coordinator, data), str(parent) if parent else None
        )

    def _start_session(self, data: Data) -> None:
        self._find_spans(data)

    def _name_agent(self, data: Data) -> None:
        """session:fork names the child itself, agent:spawn only the parent that will have it."""
        if agent := data.get("agent_name"):
            self.tree.name_agent(get_session_id(self._coordinator, data), to_one_line(agent, 100))

    def _end_session(self, data: Data) -> None:
        spans = self._find_spans(data)
        reason = to_one_line(data.get("reason") or "complete", 40)
        if spans.session is not None:
            spans.session.set_attribute(Attribute.SESSION_REASON, reason)
        record_hooks(self._pipeline, data.get("stats"))
        failed = reason if reason in {"error", "timeout"} else None
        self.tree.close_session(spans.session_id, failed)

    def _start_turn(self, data: Data) -> None:
        self.tree.open_turn(self._find_spans(data))

    def _end_turn(self, data: Data) -> None:
        spans = self._find_spans(data)
        status = to_one_line(data.get("status") or "success", 40)
        if spans.turn is not None:
            spans.turn.set_attribute(Attribute.TURN_STATUS, status)
        self.tree.close_turn(spans, None if status == "success" else status)

    def _start_chat(self, data: Data) -> None:
        provider = normalize_provider(to_one_line(data.get("provider") or "unknown", 100))
        model = to_one_line(data.get("model") or "unknown", 100)
        self.tree.open_chat(self._find_spans(data), provider, model)

    def _capture_messages(self, data: Data) -> None:
        chat = self._find_spans(data).chat
        if chat is not None:
            self._capture(chat.span, Attribute.INPUT_MESSAGES, data.get("messages"))

    def _end_chat(self, data: Data) -> None:
        spans = self._find_spans(data)
        chat = spans.chat
        if chat is None:
            return
        response = data.get("response")
        response = response if isinstance(response, dict) else {}
        chat.span.set_attributes(describe_reply(response, data.get("usage")))
        self._capture(chat.span, Attribute.OUTPUT_MESSAGES, response)
        for kind, count in count_tokens(data.get("usage")).items():
            attributes = {**chat.attributes, Attribute.TOKEN_TYPE: kind}
            self._pipeline.token_usage.record(count, attributes)
        self.tree.close_chat(spans, None)

    def _fail_chat(self, data: Data) -> None:
        self.tree.close_chat(self._find_spans(data), _read_error_type(data))

    def _start_tool(self, data: Data) -> None:
        tool = to_one_line(data.get("tool_name") or "unknown", 100)
        self.tree.open_tool(self._find_spans(data), tool, _read_call_id(data))

    def _end_tool(self, data: Data) -> None:
        spans, call_id = self._find_spans(data), _read_call_id(data)
        if (tool := spans.tools.get(call_id)) is not None:
            self._capture(tool.span, Attribute.TOOL_ARGUMENTS, data.get("tool_input"))
            self._capture(tool.span, Attribute.TOOL_RESULT, data.get("tool_result"))
        failed = data.get("success") is False
        self.tree.close_tool(spans, call_id, "tool_failed" if failed else None)

    def _fail_tool(self, data: Data) -> None:
        self.tree.close_tool(self._find_spans(data), _read_call_id(data), _read_error_type(data))

    def _record_denial(self, data: Data) -> None:
        """What a hook refused has no other end than this event."""
        spans = self._find_spans(data)
        event = to_one_line(data.get("event") or "unknown", 60)
        what = {
            Attribute.HOOK: to_one_line(data.get("hook") or "unknown", 100),
            Attribute.HOOK_EVENT: event,
        }
        self._pipeline.denials.add(1, what)
        self._add_event(spans, "hook.denied", what, {Attribute.REASON: data.get("reason")})
        if event in (events.TOOL_PRE, events.TOOL_POST):
            self._close_denied_tool(spans, data)
        elif event in (events.PROVIDER_REQUEST, events.PROVIDER_RESPONSE):
            self.tree.close_chat(spans, "denied")
        elif event == events.PROMPT_SUBMIT:
            self.tree.close_turn(spans, "denied")

    def _close_denied_tool(self, spans: SessionSpans, data: Data) -> None:
        denied = spans.tools.get(_read_call_id(data)) or spans.find_tool_of_task()
        for call_id in [key for key, tool in spans.tools.items() if tool is denied]:
            self.tree.close_tool(spans, call_id, "denied")

    def _require_approval(self, data: Data) -> None:
        self._record_approval("approval.required", data)

    def _grant_approval(self, data: Data) -> None:
        self._count_approval("granted", data)
        self._record_approval("approval.granted", data)

    def _deny_approval(self, data: Data) -> None:
        # Where another program asked its own person, all that is known is that it did not run.
        handed_over = data.get("how") == "handed_over"
        self._count_approval("not_run" if handed_over else "denied", data)
        self._record_approval("approval.denied", data)

    def _count_approval(self, decision: str, data: Data) -> None:
        hook = to_one_line(data.get("hook") or "unknown", 100)
        self._pipeline.approvals.add(
            1, {Attribute.HOOK: hook, Attribute.APPROVAL_DECISION: decision}
        )

    def _record_approval(self, event: str, data: Data) -> None:
        keys = {Attribute.HOOK: "hook", Attribute.APPROVAL_HOW: "how", Attribute.DIGEST: "digest"}
        what = {name: to_one_line(data[key], 200) for name, key in keys.items() if data.get(key)}
        said = {
            Attribute.APPROVAL_PROMPT: data.get("prompt"),
            Attribute.APPROVAL_DECISION: data.get("decision"),
        }
        self._add_event(self._find_spans(data), event, what, said)

    def _record_retry(self, data: Data) -> None:
        what = {
            PREFIX + key: data[key] for key in ("attempt", "delay_ms") if is_number(data.get(key))
        }
        self._add_event(
            self._find_spans(data),
            "provider.retry",
            {**what, Attribute.ERROR_TYPE: _read_error_type(data)},
            {},
        )

    def _record_compaction(self, data: Data) -> None:
        keys = ("tokens_before", "tokens_after", "messages_before", "messages_after")
        what = {PREFIX + key: data[key] for key in keys if is_number(data.get(key))}
        self._add_event(self._find_spans(data), "context.compacted", what, {})

    def _add_event(self, spans: SessionSpans, event: str, what: Data, said: Data) -> None:
        """A span event; what people or models said is in it only on request."""
        span = spans.find_innermost()
        if span is None:
            return
        if self._config.capture_content:
            limit = self._config.max_content_length
            clean = self._coordinator.scrub(said)
            what = {
                **what,
                **{key: to_one_line(text, limit) for key, text in clean.items() if text},
            }
        span.add_event(PREFIX + event, what)

    def _capture(self, span: Any, name: str, value: Any) -> None:
        if self._config.capture_content and value is not None:
            text = encode_json(self._coordinator.scrub(value)).decode("ascii")
            span.set_attribute(name, text[: self._config.max_content_length])


def _read_call_id(data: Data) -> str:
    """Loops that give their calls no id run them one after the other."""
    return to_one_line(data.get("tool_call_id") or data.get("tool_name") or "unknown", 200)


def _read_error_type(data: Data) -> str:
    error = data.get("error")
    kind = error.get("type") if isinstance(error, dict) else type(error).__name__
    return to_one_line(kind or "unknown", 100)
