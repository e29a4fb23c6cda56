"""The open spans of the sessions under way: session → turn → chat or tool."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import Any

from amplifier_hooks.guards.otel.genai_names import Attribute, Operation
from amplifier_hooks.guards.otel.pipeline import Pipeline

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
        spans = (
            self._make_root(session_id) if parent is None else self._make_child(session_id, parent)
        )
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
        chat, spans.chat = spans.chat, None
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
        turn, spans.turn = spans.turn, None
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
