"""Events turned into spans, span events and metrics."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from amplifier_core import events
from amplifier_core.interfaces import Host
from amplifier_core.models import HookResult
from amplifier_hooks.guards.otel.genai_names import PREFIX, Attribute, Operation, normalize_provider
from amplifier_hooks.guards.otel.pipeline import Pipeline
from amplifier_hooks.machine.http import check_url
from amplifier_hooks.machine.text import encode_json, to_one_line
from amplifier_hooks.modules.registration import get_session_id

NAME = "hooks-otel"


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
    def _check_endpoint(cls, value: str | None) -> str | None:
        return None if value is None else check_url(value)


Data = dict[str, Any]


def is_number(value: Any) -> bool:
    """Whether a reply's value can be a figure; True and False are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _read_count(usage: Any, *keys: str) -> int | None:
    if not isinstance(usage, dict):
        return None
    found = next((usage[key] for key in keys if is_number(usage.get(key))), None)
    return None if found is None else max(int(found), 0)


def count_tokens(usage: Any) -> dict[str, int]:
    """The token counts that a reply's usage has, by kind."""
    counts = {
        "input": _read_count(usage, "input_tokens"),
        "output": _read_count(usage, "output_tokens"),
    }
    return {kind: count for kind, count in counts.items() if count is not None}


def describe_reply(response: Data, usage: Any) -> Data:
    """What a reply's span says about it."""
    counts = {
        Attribute.INPUT_TOKENS: _read_count(usage, "input_tokens"),
        Attribute.OUTPUT_TOKENS: _read_count(usage, "output_tokens"),
        Attribute.CACHE_READ_TOKENS: _read_count(usage, "cache_read_tokens"),
        Attribute.CACHE_CREATION_TOKENS: _read_count(usage, "cache_write_tokens"),
    }
    told: Data = {name: count for name, count in counts.items() if count is not None}
    if model := response.get("model"):
        told[Attribute.RESPONSE_MODEL] = to_one_line(model, 100)
    if reason := response.get("finish_reason"):
        told[Attribute.FINISH_REASONS] = [to_one_line(reason, 100)]
    return told


MOST_HOOKS = 500


def record_hooks(pipeline: Pipeline, stats: Any) -> None:
    """Add what each hook did in a session; what is no figure is left out."""
    for name, figures in list(_list_hooks(stats))[:MOST_HOOKS]:
        hook = {Attribute.HOOK: to_one_line(name, 100)}
        for action, count in _list_numbers(figures.get("answers")):
            pipeline.hook_calls.add(count, {**hook, Attribute.HOOK_ACTION: action})
        for action, count in _list_numbers(figures.get("shadowed")):
            pipeline.hook_shadowed.add(count, {**hook, Attribute.HOOK_ACTION: action})
        for key, counter in (
            ("failures", pipeline.hook_failures),
            ("timeouts", pipeline.hook_timeouts),
        ):
            if is_number(figures.get(key)) and figures[key] > 0:
                counter.add(figures[key], hook)
        for quantile in ("p50", "p95", "p99"):
            spent: Any = figures.get(f"{quantile}_ms")
            if is_number(spent) and spent >= 0:
                attributes = {**hook, Attribute.HOOK_QUANTILE: quantile}
                pipeline.hook_duration.record(spent / 1000, attributes)


def _list_hooks(stats: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    hooks = stats.get("hooks") if isinstance(stats, Mapping) else None
    for name, figures in hooks.items() if isinstance(hooks, Mapping) else ():
        if isinstance(figures, Mapping):
            yield name, figures


def _list_numbers(counts: Any) -> Iterator[tuple[str, Any]]:
    for action, count in counts.items() if isinstance(counts, Mapping) else ():
        if is_number(count) and count > 0:
            yield to_one_line(action, 60), count


Attributes = dict[str, Any]


@dataclass(slots=True)
class OpenSpan:
    """A span that has begun, by whom, and what its metric will say about it."""

    span: Any
    attributes: Attributes
    started: float = field(default_factory=time.monotonic)
    task: Any = None

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started


@dataclass(slots=True)
class SessionSpans:
    """The open spans of one session. A sub-agent has no session span: it hangs below its caller."""

    session_id: str
    agent: str
    session: Any = None
    above: Any = None
    turn: Any = None
    chat: OpenSpan | None = None
    tools: dict[str, OpenSpan] = field(default_factory=dict)

    def find_tool_of_task(self) -> OpenSpan | None:
        """The tool call that this task is in; parallel calls run in tasks of their own."""
        task = asyncio.current_task()
        own = [tool for tool in self.tools.values() if tool.task is task]
        return own[-1] if own else next(reversed(self.tools.values()), None)

    def find_innermost(self) -> Any:
        """The span that a happening belongs to."""
        tool = self.find_tool_of_task()
        inner = tool or self.chat
        return inner.span if inner else self.turn or self.session or self.above


class SpanTree:
    """Opens and closes spans; a missing or repeated event never leaves one open for good."""

    def __init__(self, pipeline: Pipeline, agent: str) -> None:
        self._pipeline = pipeline
        self._agent = agent
        self._sessions: dict[str, SessionSpans] = {}
        self._agents: dict[str, str] = {}

    def name_agent(self, session_id: str, agent: str) -> None:
        """What the sub-agent of a session to come is called."""
        if len(self._agents) > 1000:
            self._agents.clear()
        self._agents[session_id] = agent

    def get_session(self, session_id: str, parent_id: str | None = None) -> SessionSpans:
        """The spans of a session, begun at the first event that mentions it."""
        known = self._sessions.get(session_id)
        if known is not None:
            return known
        parent = self._sessions.get(parent_id) if parent_id else None
        if parent is None:
            spans = self._make_root(session_id)
        else:
            spans = self._make_child(session_id, parent)
        self._sessions[session_id] = spans
        return spans

    def _make_root(self, session_id: str) -> SessionSpans:
        workflow = f"{self._agent} session"
        span = self._start_span(
            f"{Operation.INVOKE_WORKFLOW} {workflow}",
            None,
            {
                Attribute.OPERATION: Operation.INVOKE_WORKFLOW,
                Attribute.WORKFLOW: workflow,
                Attribute.CONVERSATION: session_id,
            },
        )
        return SessionSpans(session_id, self._agent, session=span)

    def _make_child(self, session_id: str, parent: SessionSpans) -> SessionSpans:
        agent = self._agents.pop(session_id, None) or self._agents.get(parent.session_id)
        return SessionSpans(session_id, agent or "sub-agent", above=parent.find_innermost())

    def _start_span(
        self, name: str, parent: Any, attributes: Attributes, kind: str = "INTERNAL"
    ) -> Any:
        api = self._pipeline.api
        context = api.set_span_in_context(parent) if parent is not None else None
        return self._pipeline.tracer.start_span(
            name, context=context, kind=api.SpanKind[kind], attributes=attributes
        )

    def open_turn(self, spans: SessionSpans) -> Any:
        """A turn is one invocation of the agent."""
        self.close_turn(spans, None)
        spans.turn = self._start_span(
            f"{Operation.INVOKE_AGENT} {spans.agent}",
            spans.session or spans.above,
            {
                Attribute.OPERATION: Operation.INVOKE_AGENT,
                Attribute.AGENT: spans.agent,
                Attribute.CONVERSATION: spans.session_id,
            },
        )
        return spans.turn

    def open_chat(self, spans: SessionSpans, provider: str, model: str) -> OpenSpan:
        self.close_chat(spans, "superseded")
        metric = {
            Attribute.OPERATION: Operation.CHAT,
            Attribute.PROVIDER: provider,
            Attribute.REQUEST_MODEL: model,
        }
        span = self._start_span(
            f"{Operation.CHAT} {model}",
            self._ensure_turn(spans),
            {**metric, Attribute.CONVERSATION: spans.session_id},
            "CLIENT",
        )
        spans.chat = OpenSpan(span, metric)
        return spans.chat

    def open_tool(self, spans: SessionSpans, tool: str, call_id: str) -> OpenSpan:
        self.close_tool(spans, call_id, "superseded")
        metric = {Attribute.TOOL: tool}
        span = self._start_span(
            f"{Operation.EXECUTE_TOOL} {tool}",
            self._ensure_turn(spans),
            {
                **metric,
                Attribute.OPERATION: Operation.EXECUTE_TOOL,
                Attribute.TOOL_CALL: call_id,
                Attribute.TOOL_TYPE: "function",
                Attribute.CONVERSATION: spans.session_id,
            },
        )
        opened = OpenSpan(span, metric, task=asyncio.current_task())
        spans.tools[call_id] = opened
        return opened

    def _ensure_turn(self, spans: SessionSpans) -> Any:
        """A loop that never says when a turn begins has one all the same."""
        return spans.turn or self.open_turn(spans)

    def close_chat(self, spans: SessionSpans, error: str | None) -> None:
        chat = spans.chat
        spans.chat = None
        if chat is not None:
            self._end_span(chat.span, error)
            self._pipeline.chat_duration.record(chat.seconds, _add_error(chat.attributes, error))

    def close_tool(self, spans: SessionSpans, call_id: str, error: str | None) -> None:
        tool = spans.tools.pop(call_id, None)
        if tool is not None:
            self._end_span(tool.span, error)
            self._pipeline.tool_duration.record(tool.seconds, _add_error(tool.attributes, error))

    def close_turn(self, spans: SessionSpans, error: str | None) -> None:
        """With everything that is still open below it."""
        self.close_chat(spans, "abandoned")
        for call_id in list(spans.tools):
            self.close_tool(spans, call_id, "abandoned")
        turn = spans.turn
        spans.turn = None
        if turn is not None:
            self._end_span(turn, error)

    def close_session(self, session_id: str, error: str | None = None) -> None:
        spans = self._sessions.pop(session_id, None)
        if spans is not None:
            self.close_turn(spans, None)
            if spans.session is not None:
                self._end_span(spans.session, error)

    def close(self) -> None:
        """End what is left, the youngest sessions first."""
        for session_id in reversed(list(self._sessions)):
            self.close_session(session_id)

    def _end_span(self, span: Any, error: str | None) -> None:
        if error is not None:
            span.set_attribute(Attribute.ERROR_TYPE, error)
            span.set_status(self._pipeline.api.StatusCode.ERROR)
        span.end()


def _add_error(attributes: Attributes, error: str | None) -> Attributes:
    return attributes if error is None else {**attributes, Attribute.ERROR_TYPE: error}


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
        spans = self._find_spans(data)
        call_id = _read_call_id(data)
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
