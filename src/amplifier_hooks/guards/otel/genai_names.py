"""The names of the GenAI conventions of OpenTelemetry, and our own beside them.

The conventions are still in development and may change: only this file knows them.
"""

from __future__ import annotations

PREFIX = "amplifier."
"""Before our own names: the conventions know neither hooks nor approvals."""

TOKEN_BUCKETS = [float(4**power) for power in range(14)]
DURATION_BUCKETS = [round(0.01 * 2**power, 2) for power in range(14)]

# The well-known values of gen_ai.provider.name start with these
_PROVIDERS = ("anthropic", "openai")


class Operation:
    """Operations, which are also the first words of span names."""

    INVOKE_WORKFLOW = "invoke_workflow"
    INVOKE_AGENT = "invoke_agent"
    CHAT = "chat"
    EXECUTE_TOOL = "execute_tool"


HOOK_BUCKETS = (0.0001, 0.0005, 0.001, 0.005, 0.025, 0.1, 0.5, 2.5)


class Metric:
    """Instruments."""

    TOKEN_USAGE = "gen_ai.client.token.usage"
    OPERATION_DURATION = "gen_ai.client.operation.duration"
    TOOL_DURATION = PREFIX + "tool.duration"
    DENIALS = PREFIX + "hook.denials"
    HOOK_CALLS = PREFIX + "hook.calls"
    HOOK_SHADOWED = PREFIX + "hook.shadowed"
    HOOK_FAILURES = PREFIX + "hook.failures"
    HOOK_TIMEOUTS = PREFIX + "hook.timeouts"
    HOOK_DURATION = PREFIX + "hook.duration"
    APPROVALS = PREFIX + "approvals"


class Attribute:
    """Attributes of spans, span events and metrics."""

    OPERATION = "gen_ai.operation.name"
    PROVIDER = "gen_ai.provider.name"
    WORKFLOW = "gen_ai.workflow.name"
    AGENT = "gen_ai.agent.name"
    CONVERSATION = "gen_ai.conversation.id"
    REQUEST_MODEL = "gen_ai.request.model"
    RESPONSE_MODEL = "gen_ai.response.model"
    FINISH_REASONS = "gen_ai.response.finish_reasons"
    INPUT_TOKENS = "gen_ai.usage.input_tokens"
    OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
    CACHE_READ_TOKENS = "gen_ai.usage.cache_read.input_tokens"
    CACHE_CREATION_TOKENS = "gen_ai.usage.cache_creation.input_tokens"
    TOKEN_TYPE = "gen_ai.token.type"
    TOOL = "gen_ai.tool.name"
    TOOL_CALL = "gen_ai.tool.call.id"
    TOOL_TYPE = "gen_ai.tool.type"
    ERROR_TYPE = "error.type"

    # What people and models said: only on request
    TOOL_ARGUMENTS = "gen_ai.tool.call.arguments"
    TOOL_RESULT = "gen_ai.tool.call.result"
    INPUT_MESSAGES = "gen_ai.input.messages"
    OUTPUT_MESSAGES = "gen_ai.output.messages"

    # Ours
    HOOK = PREFIX + "hook.name"
    HOOK_EVENT = PREFIX + "hook.event"
    HOOK_ACTION = PREFIX + "hook.action"
    HOOK_QUANTILE = PREFIX + "hook.quantile"
    REASON = PREFIX + "hook.reason"
    APPROVAL_PROMPT = PREFIX + "approval.prompt"
    APPROVAL_DECISION = PREFIX + "approval.decision"
    APPROVAL_HOW = PREFIX + "approval.how"
    DIGEST = PREFIX + "approval.digest"
    TURN_STATUS = PREFIX + "turn.status"
    SESSION_REASON = PREFIX + "session.reason"


def normalize_provider(name: str) -> str:
    """A module's or provider's name as the conventions spell it."""
    plain = name.removeprefix("provider-")
    return next((known for known in _PROVIDERS if plain.startswith(known)), plain)
