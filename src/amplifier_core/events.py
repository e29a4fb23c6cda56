"""Every event of an agent's life, in the order a session meets them, with its payload."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

# Session
SESSION_START = "session:start"
SESSION_RESUME = "session:resume"
SESSION_FORK = "session:fork"

# Prompt and execution
PROMPT_SUBMIT = "prompt:submit"
EXECUTION_START = "execution:start"
PLAN_START = "plan:start"
PLAN_END = "plan:end"

# Provider
PROVIDER_REQUEST = "provider:request"
CONTENT_BLOCK_START = "content_block:start"
CONTENT_BLOCK_DELTA = "content_block:delta"
CONTENT_BLOCK_END = "content_block:end"
THINKING_DELTA = "thinking:delta"
THINKING_FINAL = "thinking:final"
PROVIDER_RESPONSE = "provider:response"
PROVIDER_RETRY = "provider:retry"
PROVIDER_ERROR = "provider:error"

# Decisions
DECISION_TOOL_RESOLUTION = "decision:tool_resolution"
DECISION_AGENT_RESOLUTION = "decision:agent_resolution"
DECISION_CONTEXT_RESOLUTION = "decision:context_resolution"

# Tools
TOOL_PRE = "tool:pre"
TOOL_POST = "tool:post"
TOOL_ERROR = "tool:error"
ARTIFACT_READ = "artifact:read"
ARTIFACT_WRITE = "artifact:write"

# Approval and policy
APPROVAL_REQUIRED = "approval:required"
APPROVAL_GRANTED = "approval:granted"
APPROVAL_DENIED = "approval:denied"
POLICY_VIOLATION = "policy:violation"

# Context
CONTEXT_PRE_COMPACT = "context:pre_compact"
CONTEXT_POST_COMPACT = "context:post_compact"

# Sub-agents
AGENT_SPAWN = "agent:spawn"
AGENT_COMPLETE = "agent:complete"

# The end of a turn and of a session
ORCHESTRATOR_COMPLETE = "orchestrator:complete"
EXECUTION_COMPLETE = "execution:complete"
PROMPT_COMPLETE = "prompt:complete"
USER_NOTIFICATION = "user:notification"
CANCEL_REQUESTED = "cancel:requested"
CANCEL_COMPLETED = "cancel:completed"
SESSION_END = "session:end"

# Errors
ERROR_TOOL = "error:tool"
ERROR_PROVIDER = "error:provider"
ERROR_ORCHESTRATION = "error:orchestration"

ALL_EVENTS: list[str] = [
    SESSION_START,
    SESSION_RESUME,
    SESSION_FORK,
    PROMPT_SUBMIT,
    EXECUTION_START,
    PLAN_START,
    PLAN_END,
    PROVIDER_REQUEST,
    CONTENT_BLOCK_START,
    CONTENT_BLOCK_DELTA,
    CONTENT_BLOCK_END,
    THINKING_DELTA,
    THINKING_FINAL,
    PROVIDER_RESPONSE,
    PROVIDER_RETRY,
    PROVIDER_ERROR,
    DECISION_TOOL_RESOLUTION,
    DECISION_AGENT_RESOLUTION,
    DECISION_CONTEXT_RESOLUTION,
    TOOL_PRE,
    TOOL_POST,
    TOOL_ERROR,
    ARTIFACT_READ,
    ARTIFACT_WRITE,
    APPROVAL_REQUIRED,
    APPROVAL_GRANTED,
    APPROVAL_DENIED,
    POLICY_VIOLATION,
    CONTEXT_PRE_COMPACT,
    CONTEXT_POST_COMPACT,
    AGENT_SPAWN,
    AGENT_COMPLETE,
    ORCHESTRATOR_COMPLETE,
    EXECUTION_COMPLETE,
    PROMPT_COMPLETE,
    USER_NOTIFICATION,
    CANCEL_REQUESTED,
    CANCEL_COMPLETED,
    SESSION_END,
    ERROR_TOOL,
    ERROR_PROVIDER,
    ERROR_ORCHESTRATION,
]

_canonical = {
    "context:pre-compact": CONTEXT_PRE_COMPACT,
    ERROR_TOOL: TOOL_ERROR,
    ERROR_PROVIDER: PROVIDER_ERROR,
    "execution:end": EXECUTION_COMPLETE,
}
_alternative = {canonical: spelled for spelled, canonical in _canonical.items()}


def canonical(event: str) -> str:
    """The one name behind the spellings of an event."""
    return _canonical.get(event, event)


def spellings(event: str) -> tuple[str, ...]:
    """All names of an event, the canonical one first."""
    name = canonical(event)
    other = _alternative.get(name)
    return (name,) if other is None else (name, other)


Status = Literal["success", "error", "interrupted"]


class ErrorDetails(TypedDict):
    """What went wrong, as values that can be written down."""

    type: str
    message: str
    retryable: NotRequired[bool]
    status_code: NotRequired[int | None]


class SessionStats(TypedDict):
    """What a session amounted to."""

    total_messages: int
    tool_invocations: int
    total_tokens: int


class EventData(TypedDict):
    """What every event carries; a session with a parent also says which.

    Whoever emits leaves these out: the registry adds them, and nobody can forge them.
    """

    session_id: NotRequired[str]
    timestamp: NotRequired[str]
    parent_id: NotRequired[str]


class SessionStartData(EventData):
    """A session begins or resumes."""

    mount_plan: dict[str, Any]
    source: Literal["startup", "resume", "compact"]


class SessionResumeData(EventData):
    """A saved session goes on; follows session:start."""

    mount_plan: dict[str, Any]
    messages_count: int


class SessionForkData(EventData):
    """A child session leaves its parent."""

    child_id: str
    agent_name: str


class PromptSubmitData(EventData):
    """The user submitted a prompt; nothing has processed it yet."""

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
    """A request is about to go to a model."""

    provider: str
    model: str | None
    messages: list[dict[str, Any]]
    tools: list[str]
    iteration: int


class ContentBlockStartData(EventData):
    """A block of the streamed reply opens."""

    block_index: int
    block_type: str


class ContentBlockDeltaData(EventData):
    """A piece of text arrived."""

    block_index: int
    delta: str


class ContentBlockEndData(EventData):
    """A block of the streamed reply closed."""

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
    """A failed request will be tried again."""

    provider: str
    attempt: int
    max_attempts: int
    delay_ms: int
    error: ErrorDetails


class ProviderErrorData(EventData):
    """A request to a model failed for good; also error:provider."""

    provider: str
    error: ErrorDetails


class DecisionToolResolutionData(EventData):
    """The loop is about to run the tool that the model chose."""

    available_tools: list[str]
    selected_tool: str
    reason: str


class DecisionAgentResolutionData(EventData):
    """The loop hands a task to a sub-agent."""

    agent_name: str
    reason: str


class DecisionContextResolutionData(EventData):
    """A strategy for the context was chosen."""

    strategy: str
    reason: str


class ToolPreData(EventData):
    """A tool is about to run; it can be blocked, changed or gated."""

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
    """The gate opened."""

    hook: str
    prompt: str
    decision: str | None
    by: str | None
    how: str
    digest: str


class ApprovalDeniedData(EventData):
    """The gate stayed shut."""

    hook: str
    prompt: str
    decision: str | None
    by: str | None
    how: str
    digest: str


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
    """The loop said its last word."""

    orchestrator: str
    final_message: dict[str, Any]
    turn_count: int
    duration_ms: int
    status: Status


class ExecutionCompleteData(EventData):
    """The loop finished a turn; also execution:end."""

    response: str
    status: Status


class PromptCompleteData(EventData):
    """The reply to a prompt is complete."""

    prompt: str
    response: str


class UserNotificationData(EventData):
    """The user is needed, or should know."""

    notification_type: Literal["awaiting_input", "approval_required", "error", "alert"]
    message: str
    metadata: dict[str, Any]


class CancelRequestedData(EventData):
    """Somebody wants the run to stop."""

    immediate: bool


class CancelCompletedData(EventData):
    """The run stopped."""

    immediate: bool


class SessionEndData(EventData):
    """A session ended."""

    reason: Literal["complete", "user_exit", "error", "timeout"]
    duration_ms: int
    stats: SessionStats


class ErrorOrchestrationData(EventData):
    """The loop itself failed."""

    error: ErrorDetails


_payloads: dict[str, type[EventData]] = {
    SESSION_START: SessionStartData,
    SESSION_RESUME: SessionResumeData,
    SESSION_FORK: SessionForkData,
    PROMPT_SUBMIT: PromptSubmitData,
    EXECUTION_START: ExecutionStartData,
    PLAN_START: PlanStartData,
    PLAN_END: PlanEndData,
    PROVIDER_REQUEST: ProviderRequestData,
    CONTENT_BLOCK_START: ContentBlockStartData,
    CONTENT_BLOCK_DELTA: ContentBlockDeltaData,
    CONTENT_BLOCK_END: ContentBlockEndData,
    THINKING_DELTA: ThinkingDeltaData,
    THINKING_FINAL: ThinkingFinalData,
    PROVIDER_RESPONSE: ProviderResponseData,
    PROVIDER_RETRY: ProviderRetryData,
    PROVIDER_ERROR: ProviderErrorData,
    DECISION_TOOL_RESOLUTION: DecisionToolResolutionData,
    DECISION_AGENT_RESOLUTION: DecisionAgentResolutionData,
    DECISION_CONTEXT_RESOLUTION: DecisionContextResolutionData,
    TOOL_PRE: ToolPreData,
    TOOL_POST: ToolPostData,
    TOOL_ERROR: ToolErrorData,
    ARTIFACT_READ: ArtifactReadData,
    ARTIFACT_WRITE: ArtifactWriteData,
    APPROVAL_REQUIRED: ApprovalRequiredData,
    APPROVAL_GRANTED: ApprovalGrantedData,
    APPROVAL_DENIED: ApprovalDeniedData,
    POLICY_VIOLATION: PolicyViolationData,
    CONTEXT_PRE_COMPACT: ContextPreCompactData,
    CONTEXT_POST_COMPACT: ContextPostCompactData,
    AGENT_SPAWN: AgentSpawnData,
    AGENT_COMPLETE: AgentCompleteData,
    ORCHESTRATOR_COMPLETE: OrchestratorCompleteData,
    EXECUTION_COMPLETE: ExecutionCompleteData,
    PROMPT_COMPLETE: PromptCompleteData,
    USER_NOTIFICATION: UserNotificationData,
    CANCEL_REQUESTED: CancelRequestedData,
    CANCEL_COMPLETED: CancelCompletedData,
    SESSION_END: SessionEndData,
    ERROR_ORCHESTRATION: ErrorOrchestrationData,
}


def payload_type(event: str) -> type[EventData] | None:
    """The typed payload of an event; None for an event of a module's own."""
    return _payloads.get(canonical(event))


_notifications = (frozenset(ALL_EVENTS) | _canonical.keys()) - {
    SESSION_START,
    PROMPT_SUBMIT,
    PROVIDER_REQUEST,
    PROVIDER_RESPONSE,
    TOOL_PRE,
    TOOL_POST,
    CONTEXT_PRE_COMPACT,
    "context:pre-compact",
    AGENT_SPAWN,
}


def is_notification(event: str) -> bool:
    """Whether an event only tells: deny, modify and ask_user on it are recorded, no more."""
    return event in _notifications
