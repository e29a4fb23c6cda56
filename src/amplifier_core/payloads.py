"""The data that each event carries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypedDict

from pydantic import BaseModel

from amplifier_core.errors import LoadFailure


class EventData(TypedDict):
    """What every event carries; a session with a parent also says which.

    Whoever emits leaves these out: the registry adds them, and nobody can forge them.
    """

    session_id: NotRequired[str]
    timestamp: NotRequired[str]
    parent_id: NotRequired[str | None]
    judged_again: NotRequired[bool]
    """True if this hook is called once more after a wait for approval; see `writing-hooks`."""
    denied_by: NotRequired[str]
    """With `session.run_all`: the hook that has denied it, so that no answer has an effect."""


Status = Literal["success", "error", "interrupted"]
NotificationType = Literal["awaiting_input", "approval_required", "error", "alert"]
StartSource = Literal["startup", "resume", "compact"]
EndReason = Literal["complete", "user_exit", "error", "timeout", "denied"]


class ErrorDetails(TypedDict):
    """What went wrong, as plain values."""

    type: str
    message: str
    retryable: NotRequired[bool]
    status_code: NotRequired[int | None]


class SessionStats(TypedDict):
    """Totals of a session."""

    total_messages: int
    tool_invocations: int
    total_tokens: int
    hook_failures: int
    """How often a hook raised, exceeded its time limit or gave an invalid answer."""
    injections_unused: NotRequired[int]
    """How many texts of hooks reached no request, because the loop did not take them."""
    hooks: NotRequired[dict[str, dict[str, Any]]]
    """What each hook did in this process, counted; see `HookCounts`."""


class SessionStartData(EventData):
    """A session begins or resumes."""

    mount_plan: dict[str, Any]
    source: StartSource
    metadata: NotRequired[dict[str, Any]]
    """What the plan says under session.metadata."""


class SessionResumeData(EventData):
    """A saved session continues; follows session:start."""

    mount_plan: dict[str, Any]
    messages_count: int
    metadata: NotRequired[dict[str, Any]]


class SessionForkData(EventData):
    """A child session was created."""

    child_id: str
    agent_name: str
    parent: NotRequired[str]
    metadata: NotRequired[dict[str, Any]]


class PromptSubmitData(EventData):
    """The user submitted a prompt; it has not been processed yet."""

    prompt: str
    metadata: dict[str, Any]


class ExecutionStartData(EventData):
    """The loop begins a turn."""

    prompt: str


class PlanStartData(EventData):
    """A planning phase begins."""

    task: str


class PlanEndData(EventData):
    """A planning phase ended."""

    plan: dict[str, Any]


class ProviderRequestData(EventData):
    """A request is about to be sent to a model."""

    provider: str
    model: str | None
    messages: list[dict[str, Any]]
    tools: list[str]
    iteration: int


class ContentBlockStartData(EventData):
    """A block of the streamed reply begins."""

    block_index: int
    block_type: str


class ContentBlockDeltaData(EventData):
    """A piece of text arrived."""

    block_index: int
    delta: str


class ContentBlockEndData(EventData):
    """A block of the streamed reply ended."""

    block_index: int
    block_type: str


class ThinkingDeltaData(EventData):
    """A piece of reasoning arrived."""

    block_index: int
    delta: str


class ThinkingFinalData(EventData):
    """The reasoning is complete."""

    block_index: int
    thinking: str


class ProviderResponseData(EventData):
    """A model replied."""

    provider: str
    model: str | None
    response: dict[str, Any]
    usage: dict[str, Any]
    duration_ms: int


class ProviderRetryData(EventData):
    """A failed request will be retried."""

    provider: str
    attempt: int
    max_attempts: int
    delay_ms: int
    error: ErrorDetails
    request_id: NotRequired[str]


class ProviderErrorData(EventData):
    """A request to a model failed and will not be retried; also error:provider."""

    provider: str
    error: ErrorDetails
    request_id: NotRequired[str]


class DecisionToolResolutionData(EventData):
    """The loop is about to run the tool that the model chose; a hook can veto or replace it."""

    available_tools: list[str]
    selected_tool: str
    reason: str


class DecisionAgentResolutionData(EventData):
    """A task is about to go to a sub-agent; a hook can veto it or choose another agent."""

    available_agents: list[str]
    agent_name: str
    reason: str


class DecisionContextResolutionData(EventData):
    """A way to compact the context was chosen; a hook can veto it or choose another."""

    available_strategies: list[str]
    strategy: str
    reason: str


class ToolPreData(EventData):
    """A tool is about to run; a hook can block it, change its input, or ask first."""

    tool_name: str
    tool_input: dict[str, Any]
    tool_call_id: NotRequired[str]


class ToolPostData(EventData):
    """A tool returned."""

    tool_name: str
    tool_input: dict[str, Any]
    tool_call_id: NotRequired[str]
    tool_result: dict[str, Any]
    success: bool
    duration_ms: int


class ToolErrorData(EventData):
    """A tool raised; also error:tool."""

    tool_name: str
    tool_input: NotRequired[dict[str, Any]]
    tool_call_id: NotRequired[str]
    error: ErrorDetails


class ArtifactReadData(EventData):
    """A tool read a file."""

    path: str
    bytes: int


class ArtifactWriteData(EventData):
    """A tool wrote a file."""

    path: str
    bytes: int


class ApprovalRequiredData(EventData):
    """A person is being asked."""

    hook: str
    prompt: str
    options: list[str]
    timeout: float
    default: Literal["allow", "deny"]
    tool_name: str | None
    digest: str


class ApprovalGrantedData(EventData):
    """An operation was approved."""

    hook: str
    prompt: str
    decision: str | None
    by: str | None
    how: str
    digest: str
    comment: NotRequired[str | None]


class ApprovalDeniedData(EventData):
    """An operation was not approved."""

    hook: str
    prompt: str
    decision: str | None
    by: str | None
    how: str
    digest: str
    comment: NotRequired[str | None]


class PolicyViolationData(EventData):
    """An operation was denied."""

    event: str
    hook: str
    reason: str


class ContextPreCompactData(EventData):
    """The context is about to be compacted; also context:pre-compact."""

    trigger: Literal["auto", "manual"]
    current_tokens: int
    target_tokens: int
    messages_count: int


class ContextPostCompactData(EventData):
    """The context was compacted."""

    trigger: Literal["auto", "manual"]
    tokens_before: int
    tokens_after: int
    messages_before: int
    messages_after: int


class AgentSpawnData(EventData):
    """A sub-agent is about to start."""

    parent_session_id: str
    agent_name: str
    task: str
    config_override: dict[str, Any]


class AgentCompleteData(EventData):
    """A sub-agent finished."""

    parent_session_id: str
    agent_name: str
    task: str
    result: dict[str, Any]
    duration_ms: int
    status: Status


class OrchestratorCompleteData(EventData):
    """The loop completed its reply."""

    orchestrator: str
    final_message: dict[str, Any]
    turn_count: int
    """How many turns the conversation has had, including this one."""
    request_count: int
    """How many requests went to the model in this turn."""
    duration_ms: int
    status: Status


class ExecutionCompleteData(EventData):
    """The loop finished a turn; also execution:end."""

    response: str
    status: Status


class PromptAnswerData(EventData):
    """The agent's answer is complete and has not been handed over; a hook can withhold or change
    it."""

    prompt: str
    response: str
    streamed: bool
    """Whether its text has already been shown, piece by piece, as it arrived."""


class PromptCompleteData(EventData):
    """The reply to a prompt is complete."""

    prompt: str
    response: str


class UserNotificationData(EventData):
    """The user's attention is needed."""

    notification_type: NotificationType
    message: str
    metadata: dict[str, Any]


class CancelRequestedData(EventData):
    """A stop was requested."""

    immediate: bool


class CancelCompletedData(EventData):
    """The run stopped."""

    immediate: bool
    was_immediate: bool
    """The same, under the name that existing modules read."""
    error: NotRequired[str]


class SessionEndData(EventData):
    """A session ended, or could not start: a hook refused it (`denied`), or it failed (`error`)."""

    reason: EndReason
    duration_ms: int
    stats: SessionStats


class ModuleLoadFailedData(EventData):
    """A module of the plan could not be loaded; the session continues without it."""

    module_type: str
    module_id: str
    error: str
    reason_code: LoadFailure
    instance_id: NotRequired[str]


class ModuleOnSessionReadyFailedData(EventData):
    """A module's `on_session_ready` failed; the session continues."""

    module_id: str
    error: str


class ErrorOrchestrationData(EventData):
    """The loop itself failed."""

    error: ErrorDetails


class ProviderResolveData(EventData):
    """A module of the ecosystem chooses the provider of a request."""

    provider: NotRequired[str]
    model: NotRequired[str | None]


class LlmCallData(EventData):
    """A provider of the ecosystem sends a request, or received its response."""

    provider: str
    model: str | None
    status: NotRequired[str]
    duration_ms: NotRequired[int]
    usage: NotRequired[dict[str, Any]]
    request_id: NotRequired[str]
    """The same for a request, its response and its failures."""


class ProviderThrottleData(EventData):
    """A provider waits because of a rate limit."""

    provider: str
    model: NotRequired[str | None]
    reason: NotRequired[str]
    delay: NotRequired[float]
    request_id: NotRequired[str]


class ProviderToolSequenceRepairedData(EventData):
    """A provider added results that were missing in a conversation."""

    provider: str
    repair_count: NotRequired[int]
    repairs: NotRequired[list[dict[str, Any]]]


class ContextIncludeData(EventData):
    """A module of the ecosystem added a file to the conversation."""

    source: NotRequired[str]
    path: NotRequired[str]


class ContextCompactionData(EventData):
    """A context of the ecosystem was compacted."""

    before_tokens: NotRequired[int]
    after_tokens: NotRequired[int]


def normalize_data(data: Any) -> dict[str, Any]:
    """Event data of the forms that modules emit: a mapping, a model, nothing, or one value.

    A plain dict is returned as it is.
    """
    if type(data) is dict:
        return data
    if data is None:
        return {}
    if isinstance(data, Mapping | BaseModel):
        return dict(data)
    return {"data": data}
