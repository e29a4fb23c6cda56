"""Every event of an agent's life, in the order a session meets them, with the type of its data."""

from __future__ import annotations

import sys
import typing as _typing  # upper-case names here are events
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Generic, Literal, Protocol, TypeVar

from amplifier_core import only_kernel as only_kernel
from amplifier_core import payloads
from amplifier_core.payloads import EventData as EventData

# `amplifier init` wrote first hooks that import it under its former name.
sys.modules[f"{__name__}.payloads"] = payloads

DataT = TypeVar("DataT", bound="EventData")
DataT_co = TypeVar("DataT_co", bound="EventData", covariant=True)


@dataclass(frozen=True, slots=True)
class Effects:
    """What answers do at an event that hooks decide about."""

    subject: str
    """What a denial stops."""
    denied: str
    """What happens then."""
    changed: str
    """What becomes of changed data."""
    injected: str = "seen in the next request"
    """When the agent sees an injected text."""


_types: dict[str, type[EventData]] = {}
"""The name of each event and the type of its data, in the order of their definition."""
_effects: dict[str, Effects] = {}
_texts: dict[str, tuple[str, ...]] = {}

if _typing.TYPE_CHECKING:  # pragma: no cover

    class Event(str, Generic[DataT_co]):
        """The name of an event, by which a type checker knows what data it carries."""

        data: DataT_co

        def __new__(
            cls, name: str, effects: Effects | None = None, *, texts: tuple[str, ...] = ()
        ) -> Event[DataT_co]:
            """`effects` for an event that hooks decide about; every other one only tells.

            `texts` are the fields in which people, models and tools write: searched for secrets.
            """

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


def _define(
    data: type[EventData],
    name: str,
    effects: Effects | None = None,
    *,
    texts: tuple[str, ...] = (),
) -> str:
    _types[name] = data
    if effects is not None:
        _effects[name] = effects
    if texts:
        _texts[name] = texts
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
SESSION_START = Event[payloads.SessionStartData](
    "session:start",
    Effects(
        "the session",
        denied="the session does not start",
        changed="the changed plan is used",
        injected="the first message of the conversation",
    ),
)
SESSION_RESUME = Event[payloads.SessionResumeData]("session:resume")
SESSION_FORK = Event[payloads.SessionForkData]("session:fork")

# Prompt and execution
PROMPT_SUBMIT = Event[payloads.PromptSubmitData](
    "prompt:submit",
    Effects(
        "the prompt",
        denied="the prompt is not processed; the reason becomes the reply",
        changed="the changed prompt is used",
        injected="seen in this turn",
    ),
    texts=("prompt", "metadata"),
)
EXECUTION_START = Event[payloads.ExecutionStartData]("execution:start", texts=("prompt",))
PLAN_START = Event[payloads.PlanStartData]("plan:start")
PLAN_END = Event[payloads.PlanEndData]("plan:end")

# Provider
PROVIDER_RESOLVE = Event[payloads.ProviderResolveData]("provider:resolve")
PROVIDER_REQUEST = Event[payloads.ProviderRequestData](
    "provider:request",
    Effects(
        "the request",
        denied="the request is not sent, and the turn ends",
        changed="the changed messages are sent; the conversation itself stays the same",
        injected="seen in this request",
    ),
    texts=("messages",),
)
LLM_REQUEST = Event[payloads.LlmCallData]("llm:request")
CONTENT_BLOCK_START = Event[payloads.ContentBlockStartData]("content_block:start")
CONTENT_BLOCK_DELTA = Event[payloads.ContentBlockDeltaData]("content_block:delta", texts=("delta",))
CONTENT_BLOCK_END = Event[payloads.ContentBlockEndData]("content_block:end", texts=("block",))
THINKING_DELTA = Event[payloads.ThinkingDeltaData]("thinking:delta", texts=("delta",))
THINKING_FINAL = Event[payloads.ThinkingFinalData]("thinking:final", texts=("thinking",))
LLM_RESPONSE = Event[payloads.LlmCallData]("llm:response")
PROVIDER_RESPONSE = Event[payloads.ProviderResponseData](
    "provider:response",
    Effects("the reply", denied="the reply is withheld", changed="the changed reply is used"),
    texts=("response",),
)
PROVIDER_RETRY = Event[payloads.ProviderRetryData]("provider:retry", texts=("error",))
PROVIDER_THROTTLE = Event[payloads.ProviderThrottleData]("provider:throttle")
PROVIDER_TOOL_SEQUENCE_REPAIRED = Event[payloads.ProviderToolSequenceRepairedData](
    "provider:tool_sequence_repaired"
)
PROVIDER_ERROR = Event[payloads.ProviderErrorData]("provider:error", texts=("error",))

# Decisions
DECISION_TOOL_RESOLUTION = Event[payloads.DecisionToolResolutionData](
    "decision:tool_resolution",
    Effects(
        "the call",
        denied="the tool does not run; the agent is told why",
        changed="the tool with the new name runs",
    ),
)
DECISION_AGENT_RESOLUTION = Event[payloads.DecisionAgentResolutionData](
    "decision:agent_resolution",
    Effects(
        "the sub-agent",
        denied="no sub-agent starts",
        changed="the agent with the new name gets the task",
    ),
)
DECISION_CONTEXT_RESOLUTION = Event[payloads.DecisionContextResolutionData](
    "decision:context_resolution",
    Effects(
        "the compaction",
        denied="nothing is compacted",
        changed="the strategy with the new name is used",
    ),
)

# Tools
TOOL_PRE = Event[payloads.ToolPreData](
    "tool:pre",
    Effects(
        "the call",
        denied="the tool does not run; the agent is told why",
        changed="the changed input is used",
    ),
    texts=("tool_input",),
)
TOOL_POST = Event[payloads.ToolPostData](
    "tool:post",
    Effects(
        "the result",
        denied="the agent sees the reason, not the result",
        changed="the agent sees the changed result",
    ),
    texts=("tool_input", "tool_result", "result"),
)
TOOL_ERROR = Event[payloads.ToolErrorData]("tool:error", texts=("tool_input", "error"))
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
CONTEXT_PRE_COMPACT = Event[payloads.ContextPreCompactData](
    "context:pre_compact",
    Effects("the compaction", denied="nothing is compacted", changed="the changed data is used"),
)
CONTEXT_POST_COMPACT = Event[payloads.ContextPostCompactData]("context:post_compact")

# Sub-agents
AGENT_SPAWN = Event[payloads.AgentSpawnData](
    "agent:spawn",
    Effects(
        "the sub-agent",
        denied="the sub-agent does not start",
        changed="the changed data is used",
        injected="seen by the sub-agent",
    ),
    texts=("task",),  # the sub-agent is built from the rest, keys included
)
AGENT_COMPLETE = Event[payloads.AgentCompleteData]("agent:complete", texts=("task", "result"))

# The end of a turn and of a session
ORCHESTRATOR_COMPLETE = Event[payloads.OrchestratorCompleteData](
    "orchestrator:complete", texts=("final_message",)
)
EXECUTION_COMPLETE = Event[payloads.ExecutionCompleteData](
    "execution:complete", texts=("response",)
)
EXECUTION_END = Event[payloads.ExecutionCompleteData]("execution:end")
PROMPT_ANSWER = Event[payloads.PromptAnswerData](
    "prompt:answer",
    Effects(
        "the answer",
        denied="the answer is withheld; the reason takes its place, also in the conversation",
        changed="the changed answer is handed over and kept in the conversation",
        injected="seen in the next turn",
    ),
    texts=("prompt", "response"),
)
PROMPT_COMPLETE = Event[payloads.PromptCompleteData](
    "prompt:complete", texts=("prompt", "response")
)
USER_NOTIFICATION = Event[payloads.UserNotificationData](
    "user:notification", texts=("message", "metadata")
)
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
ERROR_ORCHESTRATION = Event[payloads.ErrorOrchestrationData](
    "error:orchestration", texts=("error",)
)

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


effects: Mapping[str, Effects] = _effects
"""What answers do where hooks decide; every other event of ours only tells."""
texts: Mapping[str, tuple[str, ...]] = _texts
"""The fields in which people, models and tools write, for each event that has some."""

notifications = frozenset(one for one in ALL_EVENTS if canonical(one) not in effects)


def name_subject(event: str) -> str:
    """What a denial of this event stops, for a sentence."""
    known = effects.get(canonical(event))
    return known.subject if known is not None else "the operation"


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
