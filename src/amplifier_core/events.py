"""Every event of an agent's life, in the order a session meets them, with the type of its data."""

from __future__ import annotations

import sys
import typing as _typing  # upper-case names here are events
from functools import partial
from typing import Generic, Literal, Protocol, TypeVar

from amplifier_core import only_kernel as only_kernel
from amplifier_core import payloads
from amplifier_core.payloads import EventData as EventData

# `amplifier init` wrote first hooks that import it under its former name.
sys.modules[f"{__name__}.payloads"] = payloads

DataT = TypeVar("DataT", bound="EventData")
DataT_co = TypeVar("DataT_co", bound="EventData", covariant=True)

_types: dict[str, type[EventData]] = {}
"""The name of each event and the type of its data, in the order of their definition."""

if _typing.TYPE_CHECKING:  # pragma: no cover

    class Event(str, Generic[DataT_co]):
        """The name of an event, by which a type checker knows what data it carries."""

        data: DataT_co

else:

    class Event:
        """`Event[SomeData]("some:name")` notes the type; the name itself is a plain string."""

        def __class_getitem__(cls, data):
            return partial(_define, data)


class EventOf(Protocol[DataT]):
    """An event that carries exactly this data.

    Whoever emits takes the event as an `EventOf[DataT]` and its data as a `DataT`: so a payload
    that lacks a field, or is another event's, is a type error. `Event` itself could not tell: it
    is covariant, so that several events in one tuple are still strings.
    """

    data: DataT


def _define(data: type[EventData], name: str) -> str:
    _types[name] = data
    return name


EventName = Literal[
    "session:start",
    "session:resume",
    "session:fork",
    "prompt:submit",
    "execution:start",
    "plan:start",
    "plan:end",
    "provider:resolve",
    "provider:request",
    "llm:request",
    "content_block:start",
    "content_block:delta",
    "content_block:end",
    "thinking:delta",
    "thinking:final",
    "llm:response",
    "provider:response",
    "provider:retry",
    "provider:throttle",
    "provider:tool_sequence_repaired",
    "provider:error",
    "decision:tool_resolution",
    "decision:agent_resolution",
    "decision:context_resolution",
    "tool:pre",
    "tool:post",
    "tool:error",
    "artifact:read",
    "artifact:write",
    "approval:required",
    "approval:granted",
    "approval:denied",
    "policy:violation",
    "context:include",
    "context:compaction",
    "context:pre_compact",
    "context:post_compact",
    "agent:spawn",
    "agent:complete",
    "orchestrator:complete",
    "execution:complete",
    "execution:end",
    "prompt:answer",
    "prompt:complete",
    "user:notification",
    "cancel:requested",
    "cancel:completed",
    "session:end",
    "module:load_failed",
    "module:on_session_ready_failed",
    "error:tool",
    "error:provider",
    "error:orchestration",
    "context:pre-compact",
]


# Session
SESSION_START = Event[payloads.SessionStartData]("session:start")
SESSION_RESUME = Event[payloads.SessionResumeData]("session:resume")
SESSION_FORK = Event[payloads.SessionForkData]("session:fork")

# Prompt and execution
PROMPT_SUBMIT = Event[payloads.PromptSubmitData]("prompt:submit")
EXECUTION_START = Event[payloads.ExecutionStartData]("execution:start")
PLAN_START = Event[payloads.PlanStartData]("plan:start")
PLAN_END = Event[payloads.PlanEndData]("plan:end")

# Provider
PROVIDER_RESOLVE = Event[payloads.ProviderResolveData]("provider:resolve")
PROVIDER_REQUEST = Event[payloads.ProviderRequestData]("provider:request")
LLM_REQUEST = Event[payloads.LlmCallData]("llm:request")
CONTENT_BLOCK_START = Event[payloads.ContentBlockStartData]("content_block:start")
CONTENT_BLOCK_DELTA = Event[payloads.ContentBlockDeltaData]("content_block:delta")
CONTENT_BLOCK_END = Event[payloads.ContentBlockEndData]("content_block:end")
THINKING_DELTA = Event[payloads.ThinkingDeltaData]("thinking:delta")
THINKING_FINAL = Event[payloads.ThinkingFinalData]("thinking:final")
LLM_RESPONSE = Event[payloads.LlmCallData]("llm:response")
PROVIDER_RESPONSE = Event[payloads.ProviderResponseData]("provider:response")
PROVIDER_RETRY = Event[payloads.ProviderRetryData]("provider:retry")
PROVIDER_THROTTLE = Event[payloads.ProviderThrottleData]("provider:throttle")
PROVIDER_TOOL_SEQUENCE_REPAIRED = Event[payloads.ProviderToolSequenceRepairedData](
    "provider:tool_sequence_repaired"
)
PROVIDER_ERROR = Event[payloads.ProviderErrorData]("provider:error")

# Decisions
DECISION_TOOL_RESOLUTION = Event[payloads.DecisionToolResolutionData]("decision:tool_resolution")
DECISION_AGENT_RESOLUTION = Event[payloads.DecisionAgentResolutionData]("decision:agent_resolution")
DECISION_CONTEXT_RESOLUTION = Event[payloads.DecisionContextResolutionData](
    "decision:context_resolution"
)

# Tools
TOOL_PRE = Event[payloads.ToolPreData]("tool:pre")
TOOL_POST = Event[payloads.ToolPostData]("tool:post")
TOOL_ERROR = Event[payloads.ToolErrorData]("tool:error")
ARTIFACT_READ = Event[payloads.ArtifactReadData]("artifact:read")
ARTIFACT_WRITE = Event[payloads.ArtifactWriteData]("artifact:write")

# Approval and policy
APPROVAL_REQUIRED = Event[payloads.ApprovalRequiredData]("approval:required")
APPROVAL_GRANTED = Event[payloads.ApprovalGrantedData]("approval:granted")
APPROVAL_DENIED = Event[payloads.ApprovalDeniedData]("approval:denied")
POLICY_VIOLATION = Event[payloads.PolicyViolationData]("policy:violation")

# Context
CONTEXT_INCLUDE = Event[payloads.ContextIncludeData]("context:include")
CONTEXT_COMPACTION = Event[payloads.ContextCompactionData]("context:compaction")
CONTEXT_PRE_COMPACT = Event[payloads.ContextPreCompactData]("context:pre_compact")
CONTEXT_POST_COMPACT = Event[payloads.ContextPostCompactData]("context:post_compact")

# Sub-agents
AGENT_SPAWN = Event[payloads.AgentSpawnData]("agent:spawn")
AGENT_COMPLETE = Event[payloads.AgentCompleteData]("agent:complete")

# The end of a turn and of a session
ORCHESTRATOR_COMPLETE = Event[payloads.OrchestratorCompleteData]("orchestrator:complete")
EXECUTION_COMPLETE = Event[payloads.ExecutionCompleteData]("execution:complete")
EXECUTION_END = Event[payloads.ExecutionCompleteData]("execution:end")
PROMPT_ANSWER = Event[payloads.PromptAnswerData]("prompt:answer")
PROMPT_COMPLETE = Event[payloads.PromptCompleteData]("prompt:complete")
USER_NOTIFICATION = Event[payloads.UserNotificationData]("user:notification")
CANCEL_REQUESTED = Event[payloads.CancelRequestedData]("cancel:requested")
CANCEL_COMPLETED = Event[payloads.CancelCompletedData]("cancel:completed")
SESSION_END = Event[payloads.SessionEndData]("session:end")

# Modules that could not do their part
MODULE_LOAD_FAILED = Event[payloads.ModuleLoadFailedData]("module:load_failed")
MODULE_ON_SESSION_READY_FAILED = Event[payloads.ModuleOnSessionReadyFailedData](
    "module:on_session_ready_failed"
)

# Errors
ERROR_TOOL = Event[payloads.ToolErrorData]("error:tool")
ERROR_PROVIDER = Event[payloads.ProviderErrorData]("error:provider")
ERROR_ORCHESTRATION = Event[payloads.ErrorOrchestrationData]("error:orchestration")

ALL_EVENTS: list[str] = list(_types)

_canonical: dict[str, str] = {
    "context:pre-compact": CONTEXT_PRE_COMPACT,
    ERROR_TOOL: TOOL_ERROR,
    ERROR_PROVIDER: PROVIDER_ERROR,
    EXECUTION_END: EXECUTION_COMPLETE,
}
_spellings: dict[str, tuple[str, str]] = {
    name: (canonical, other)
    for other, canonical in _canonical.items()
    for name in (canonical, other)
}


def canonical(event: str) -> str:
    """The one name behind the spellings of an event."""
    return _canonical.get(event, event)


def spellings(event: str) -> tuple[str, ...]:
    """All names of an event, the canonical one first."""
    return _spellings.get(event) or (event,)


_subjects: dict[str, str] = {
    SESSION_START: "the session",
    PROMPT_SUBMIT: "the prompt",
    PROMPT_ANSWER: "the answer",
    PROVIDER_REQUEST: "the request",
    PROVIDER_RESPONSE: "the reply",
    TOOL_PRE: "the call",
    TOOL_POST: "the result",
    CONTEXT_PRE_COMPACT: "the compaction",
    AGENT_SPAWN: "the sub-agent",
    DECISION_TOOL_RESOLUTION: "the call",
    DECISION_AGENT_RESOLUTION: "the sub-agent",
    DECISION_CONTEXT_RESOLUTION: "the compaction",
}
"""What hooks decide about; every other event of ours only tells."""

notifications = frozenset(one for one in ALL_EVENTS if canonical(one) not in _subjects)


def name_subject(event: str) -> str:
    """What a denial of this event stops, for a sentence."""
    return _subjects.get(canonical(event), "the operation")


def is_notification(event: str) -> bool:
    """Whether an event only tells: what hooks answer cannot stop what has happened."""
    return event in notifications


stops = frozenset({ORCHESTRATOR_COMPLETE, AGENT_COMPLETE})
"""Where a denial means that the agent, or the sub-agent, must not stop yet."""


_unique = frozenset({PROVIDER_REQUEST, PROVIDER_RESPONSE, *spellings(CONTEXT_PRE_COMPACT)})


def is_unique(event: str) -> bool:
    """Whether no two of its occurrences are alike, because the conversation goes with it."""
    return event in _unique


def payload_type(event: str) -> type[EventData] | None:
    """The typed payload of an event; None for an event of a module's own."""
    return _types.get(canonical(event))
