"""Every event of an agent's life, in the order a session meets them, with the type of its data."""

from __future__ import annotations

import typing as _typing
from importlib import import_module as _import_module

from amplifier_core import only_kernel as only_kernel
from amplifier_core.events.event import TYPES as _types  # noqa: N811 - upper-case names here are events
from amplifier_core.events.event import Event as Event
from amplifier_core.events.event import EventData as EventData
from amplifier_core.events.event import find_type as _find_type

# A process that only routes events needs none of the types.
if _typing.TYPE_CHECKING:  # pragma: no cover
    from amplifier_core.events import ecosystem as ecosystem
    from amplifier_core.events import payloads as payloads

# Session
SESSION_START = Event["payloads.SessionStartData"]("session:start")
SESSION_RESUME = Event["payloads.SessionResumeData"]("session:resume")
SESSION_FORK = Event["payloads.SessionForkData"]("session:fork")

# Prompt and execution
PROMPT_SUBMIT = Event["payloads.PromptSubmitData"]("prompt:submit")
EXECUTION_START = Event["payloads.ExecutionStartData"]("execution:start")
PLAN_START = Event["payloads.PlanStartData"]("plan:start")
PLAN_END = Event["payloads.PlanEndData"]("plan:end")

# Provider
PROVIDER_RESOLVE = Event["ecosystem.ProviderResolveData"]("provider:resolve")
PROVIDER_REQUEST = Event["payloads.ProviderRequestData"]("provider:request")
LLM_REQUEST = Event["ecosystem.LlmCallData"]("llm:request")
CONTENT_BLOCK_START = Event["payloads.ContentBlockStartData"]("content_block:start")
CONTENT_BLOCK_DELTA = Event["payloads.ContentBlockDeltaData"]("content_block:delta")
CONTENT_BLOCK_END = Event["payloads.ContentBlockEndData"]("content_block:end")
THINKING_DELTA = Event["payloads.ThinkingDeltaData"]("thinking:delta")
THINKING_FINAL = Event["payloads.ThinkingFinalData"]("thinking:final")
LLM_RESPONSE = Event["ecosystem.LlmCallData"]("llm:response")
PROVIDER_RESPONSE = Event["payloads.ProviderResponseData"]("provider:response")
PROVIDER_RETRY = Event["payloads.ProviderRetryData"]("provider:retry")
PROVIDER_THROTTLE = Event["ecosystem.ProviderThrottleData"]("provider:throttle")
PROVIDER_TOOL_SEQUENCE_REPAIRED = Event["ecosystem.ProviderToolSequenceRepairedData"](
    "provider:tool_sequence_repaired"
)
PROVIDER_ERROR = Event["payloads.ProviderErrorData"]("provider:error")

# Decisions
DECISION_TOOL_RESOLUTION = Event["payloads.DecisionToolResolutionData"]("decision:tool_resolution")
DECISION_AGENT_RESOLUTION = Event["payloads.DecisionAgentResolutionData"](
    "decision:agent_resolution"
)
DECISION_CONTEXT_RESOLUTION = Event["payloads.DecisionContextResolutionData"](
    "decision:context_resolution"
)

# Tools
TOOL_PRE = Event["payloads.ToolPreData"]("tool:pre")
TOOL_POST = Event["payloads.ToolPostData"]("tool:post")
TOOL_ERROR = Event["payloads.ToolErrorData"]("tool:error")
ARTIFACT_READ = Event["payloads.ArtifactReadData"]("artifact:read")
ARTIFACT_WRITE = Event["payloads.ArtifactWriteData"]("artifact:write")

# Approval and policy
APPROVAL_REQUIRED = Event["payloads.ApprovalRequiredData"]("approval:required")
APPROVAL_GRANTED = Event["payloads.ApprovalGrantedData"]("approval:granted")
APPROVAL_DENIED = Event["payloads.ApprovalDeniedData"]("approval:denied")
POLICY_VIOLATION = Event["payloads.PolicyViolationData"]("policy:violation")

# Context
CONTEXT_INCLUDE = Event["ecosystem.ContextIncludeData"]("context:include")
CONTEXT_COMPACTION = Event["ecosystem.ContextCompactionData"]("context:compaction")
CONTEXT_PRE_COMPACT = Event["payloads.ContextPreCompactData"]("context:pre_compact")
CONTEXT_POST_COMPACT = Event["payloads.ContextPostCompactData"]("context:post_compact")

# Sub-agents
AGENT_SPAWN = Event["payloads.AgentSpawnData"]("agent:spawn")
AGENT_COMPLETE = Event["payloads.AgentCompleteData"]("agent:complete")

# The end of a turn and of a session
ORCHESTRATOR_COMPLETE = Event["payloads.OrchestratorCompleteData"]("orchestrator:complete")
EXECUTION_COMPLETE = Event["payloads.ExecutionCompleteData"]("execution:complete")
EXECUTION_END = Event["payloads.ExecutionCompleteData"]("execution:end")
PROMPT_ANSWER = Event["payloads.PromptAnswerData"]("prompt:answer")
PROMPT_COMPLETE = Event["payloads.PromptCompleteData"]("prompt:complete")
USER_NOTIFICATION = Event["payloads.UserNotificationData"]("user:notification")
CANCEL_REQUESTED = Event["payloads.CancelRequestedData"]("cancel:requested")
CANCEL_COMPLETED = Event["payloads.CancelCompletedData"]("cancel:completed")
SESSION_END = Event["payloads.SessionEndData"]("session:end")

# Modules that could not do their part
MODULE_LOAD_FAILED = Event["payloads.ModuleLoadFailedData"]("module:load_failed")
MODULE_ON_SESSION_READY_FAILED = Event["payloads.ModuleOnSessionReadyFailedData"](
    "module:on_session_ready_failed"
)

# Errors
ERROR_TOOL = Event["payloads.ToolErrorData"]("error:tool")
ERROR_PROVIDER = Event["payloads.ProviderErrorData"]("error:provider")
ERROR_ORCHESTRATION = Event["payloads.ErrorOrchestrationData"]("error:orchestration")

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


notifications = (frozenset(ALL_EVENTS) | _canonical.keys()) - {
    SESSION_START,
    PROMPT_SUBMIT,
    PROMPT_ANSWER,
    PROVIDER_REQUEST,
    PROVIDER_RESPONSE,
    TOOL_PRE,
    TOOL_POST,
    CONTEXT_PRE_COMPACT,
    "context:pre-compact",
    AGENT_SPAWN,
    DECISION_TOOL_RESOLUTION,
    DECISION_AGENT_RESOLUTION,
    DECISION_CONTEXT_RESOLUTION,
}


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
    return _find_type(canonical(event))


if not _typing.TYPE_CHECKING:  # pragma: no branch

    def __getattr__(name):
        if name not in ("payloads", "ecosystem"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return _import_module(f"{__name__}.{name}")
