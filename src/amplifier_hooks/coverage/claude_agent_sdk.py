"""What hooks see of agents of the Claude Agent SDK."""

from __future__ import annotations

from dataclasses import replace

from amplifier_core import events
from amplifier_hooks.coverage.coverage import ALL, NOTHING, Act, Coverage

_NOT_CHANGED: frozenset[Act] = ALL - {"modify"}

COVERAGE = Coverage(
    name="claude-agent-sdk",
    framework="Claude Agent SDK",
    package="claude-agent-sdk",
    module="amplifier_hooks.frameworks.claude_agent_sdk",
    attach='ClaudeAgentOptions(**amplifier_options("amplifier.yaml"))',
    events={
        events.SESSION_START: _NOT_CHANGED,
        events.SESSION_END: NOTHING,
        events.PROMPT_SUBMIT: ALL,
        events.PROMPT_ANSWER: ALL,
        events.PROMPT_COMPLETE: NOTHING,
        events.TOOL_PRE: ALL,
        events.TOOL_POST: ALL,
        events.TOOL_ERROR: frozenset({"inject_context"}),
        events.AGENT_SPAWN: _NOT_CHANGED,
        events.AGENT_COMPLETE: NOTHING,
        events.CONTEXT_PRE_COMPACT: frozenset({"deny", "ask_user"}),
        events.USER_NOTIFICATION: NOTHING,
    },
    unseen=(
        "requests to the model and its replies, thinking included: the program makes them",
        "tools that run at the provider, such as its web search",
        "calls of tools that do not exist: the program answers them, and nothing runs",
        "what the program does by itself, such as compacting, checkpoints and its own settings",
        "an answer before the caller reads it, where the program uses the SDK's own query() or "
        "ClaudeSDKClient; nor can a prompt be changed there",
        "text that streams (include_partial_messages), before the caller reads it",
    ),
    asking=("inline", "interrupt"),
    entries=(
        "amplified_query()",
        "AmplifiedClient",
        "query() and ClaudeSDKClient with amplifier_options()",
    ),
    limits={
        events.PROVIDER_REQUEST: "the program makes its requests itself and shows them to nobody",
        events.PROVIDER_RESPONSE: "the program gets the replies itself and shows them to nobody",
        f"{events.AGENT_SPAWN} modify": "change the input of the tool Delegate at tool:pre instead",
        f"{events.TOOL_POST} inject_context": "texts for one request stay in the conversation, as "
        "all others do",
    },
)

BY_OPTIONS = replace(
    COVERAGE,
    events={
        **COVERAGE.events,
        events.PROMPT_SUBMIT: _NOT_CHANGED,
        events.PROMPT_ANSWER: NOTHING,
    },
    limits={
        **COVERAGE.limits,
        f"{events.PROMPT_SUBMIT} modify": "by its options, the program can be told to refuse a "
        "prompt, but not to take another one; use amplified_query or AmplifiedClient",
        events.PROMPT_ANSWER: "the caller has read the answer when the program tells that it "
        "stops; use amplified_query or AmplifiedClient",
    },
)
"""With nothing but options, which the SDK's own entry points take."""
