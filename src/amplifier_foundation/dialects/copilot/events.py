"""Copilot CLI's events, as they are called in camelCase."""

from __future__ import annotations

from amplifier_core import events
from amplifier_foundation.dialects.copilot import fields
from amplifier_foundation.dialects.dialect import TOOL, NativeEvent, Occasion

_REFUSAL = '{"decision": "block", "reason": "amplifier: this was not judged, so it is not allowed"}'

EVENTS: dict[str, NativeEvent] = {
    "preToolUse": NativeEvent(
        (Occasion(events.TOOL_PRE),),
        fields.build_tool,
        TOOL,
        fields.read_tool,
        powers=frozenset({"deny", "rewrite", "inject", "ask", "allow"}),
        gate=True,
    ),
    "permissionRequest": NativeEvent(
        (Occasion(events.APPROVAL_REQUIRED),),
        fields.build_permission,
        TOOL,
        fields.read_permission,
        powers=frozenset({"deny", "allow"}),
        gate=True,
        becomes="guest:permission_request",
    ),
    "postToolUse": NativeEvent(
        (Occasion(events.TOOL_POST, success=True),),
        fields.build_tool_result,
        TOOL,
        fields.read_tool_result,
        powers=frozenset({"deny", "replace", "inject"}),
        gate=True,
        refusal=_REFUSAL,
    ),
    "postToolUseFailure": NativeEvent(
        (Occasion(events.TOOL_ERROR), Occasion(events.TOOL_POST, success=False)),
        fields.build_tool_failure,
        TOOL,
        fields.read_tool_failure,
        powers=frozenset({"inject"}),
    ),
    # Only what a server is told beside the arguments can be changed here.
    "preMcpToolCall": NativeEvent((), lambda call: {}, None, fields.read_rest, noisy=True),
    "userPromptSubmitted": NativeEvent(
        (Occasion(events.PROMPT_SUBMIT),),
        fields.build_prompt,
        None,
        fields.read_prompt,
        powers=frozenset({"deny", "rewrite", "inject"}),
        gate=True,
        refusal=_REFUSAL,
    ),
    # The same prompt again, with what Copilot adds to it.
    "userPromptTransformed": NativeEvent((), lambda call: {}, None, fields.read_rest, noisy=True),
    "agentStop": NativeEvent(
        (Occasion(events.ORCHESTRATOR_COMPLETE, success=True),),
        fields.build_stop,
        None,
        fields.read_stop,
        powers=frozenset({"deny"}),
    ),
    "subagentStart": NativeEvent(
        (Occasion(events.AGENT_SPAWN),),
        fields.build_subagent,
        None,
        fields.read_subagent,
        powers=frozenset({"inject"}),
    ),
    "subagentStop": NativeEvent(
        (Occasion(events.AGENT_COMPLETE),),
        fields.build_subagent_stop,
        None,
        fields.read_subagent_stop,
        powers=frozenset({"deny"}),
    ),
    "sessionStart": NativeEvent(
        (Occasion(events.SESSION_START),),
        fields.build_session_start,
        None,
        fields.read_session_start,
        powers=frozenset({"inject"}),
    ),
    "sessionEnd": NativeEvent(
        (Occasion(events.SESSION_END),), fields.build_session_end, None, fields.read_session_end
    ),
    "preCompact": NativeEvent(
        (Occasion(events.CONTEXT_PRE_COMPACT),),
        fields.build_compaction,
        None,
        fields.read_compaction,
    ),
    "notification": NativeEvent(
        (Occasion(events.USER_NOTIFICATION),),
        fields.build_notification,
        "notification_type",
        fields.read_notification,
    ),
    "errorOccurred": NativeEvent(
        (Occasion(events.ERROR_ORCHESTRATION), Occasion(events.PROVIDER_ERROR)),
        fields.build_error,
        None,
        fields.read_error,
    ),
}
