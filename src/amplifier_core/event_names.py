"""Names of events: those of coding agents and frameworks for ours, and likely misspellings."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from amplifier_core.events import ALL_EVENTS, canonical, spellings
from amplifier_core.utils.text import differs_by_one

# Claude Code, Codex, Gemini CLI, Copilot, Cursor, OpenCode, Windsurf, Hermes and AGENT-HOOKS; then
# LangChain, OpenAI Agents, ADK, CrewAI, Strands, Pydantic AI and Agent Framework. Capitals and
# punctuation make no difference.
_THEIRS = {
    "session:start": """
        SessionStart session.created agent_startup Setup on_session_start before_run_callback
        """,
    "session:end": """
        SessionEnd session.deleted dispose agent_shutdown on_session_end after_run_callback
        """,
    "prompt:submit": """
        UserPromptSubmit userPromptSubmitted BeforeAgent beforeSubmitPrompt chat.message input
        pre_user_prompt before_agent on_chain_start on_user_message_callback before_agent_callback
        BeforeInvocationEvent AgentMiddleware before_run on_agent_start
        """,
    "prompt:answer": "output",
    "prompt:complete": "afterAgentResponse after_agent_response",
    "orchestrator:complete": """
        Stop AfterAgent agentStop session.idle after_agent on_chain_end after_agent_callback
        AfterInvocationEvent after_run on_agent_end on_agent_finish
        """,
    "error:orchestration": "StopFailure errorOccurred session.error on_chain_error",
    "provider:request": """
        PreModelRequest BeforeModel pre_model_call before_model wrap_model_call awrap_model_call
        on_llm_start on_chat_model_start before_model_callback before_model_request
        BeforeModelCallEvent ChatMiddleware pre_llm_call
        """,
    "provider:response": """
        PostModelRequest AfterModel post_model_call after_model on_llm_end after_model_callback
        after_model_request AfterModelCallEvent post_llm_call
        """,
    "provider:error": "on_llm_error on_model_error_callback",
    "tool:pre": """
        PreToolUse BeforeTool tool.execute.before beforeShellExecution beforeMCPExecution
        beforeReadFile beforeTabFileRead preMcpToolCall pre_run_command pre_mcp_tool_use
        pre_read_code pre_write_code pre_tool_call command.execute.before BeforeToolSelection
        on_tool_start wrap_tool_call awrap_tool_call before_tool_callback before_tool_execute
        BeforeToolCallEvent FunctionMiddleware onToolCall tool_call call_tool
        """,
    "tool:post": """
        PostToolUse AfterTool tool.execute.after afterShellExecution afterMCPExecution afterFileEdit
        afterTabFileEdit post_run_command post_mcp_tool_use post_read_code post_write_code
        post_tool_call PostToolBatch
        on_tool_end after_tool_callback after_tool_execute AfterToolCallEvent
        """,
    "tool:error": "PostToolUseFailure on_tool_error on_tool_error_callback on_tool_execute_error",
    "approval:required": "PermissionRequest permission.asked permission.ask",
    "approval:denied": "PermissionDenied",
    "agent:spawn": "SubagentStart on_handoff",
    "agent:complete": "SubagentStop",
    "context:pre_compact": "PreCompact PreCompress experimental.session.compacting",
    "context:post_compact": "PostCompact session.compacted",
    "user:notification": "Notification",
    "cancel:requested": "Interrupt",
    "thinking:final": "afterAgentThought",
}

# Of the words in a name, the first subject of this order says what it is about.
_SUBJECTS = {
    "agent": ("subagent", "handoff", "spawn"),
    "tool": ("tool", "tools", "function", "command", "shell", "bash", "mcp"),
    "context": ("compact", "compaction", "compress", "context"),
    "provider": ("provider", "model", "llm", "completion"),
    "approval": ("permission", "approval", "approve", "confirmation"),
    "prompt": ("prompt", "message", "input"),
    "session": ("session", "conversation"),
    "orchestrator": ("stop", "turn", "agent", "run", "orchestrator", "execution", "chain"),
}
_AFTER = frozenset(
    ("post", "after", "end", "ended", "complete", "completed", "finish", "finished", "result",
     "response", "done", "stop", "stopped", "did", "output")
)  # fmt: skip
_FAILED = frozenset(("error", "failure", "failed", "exception"))
_MOMENTS = {
    "agent": ("agent:spawn", "agent:complete", "agent:complete"),
    "tool": ("tool:pre", "tool:post", "tool:error"),
    "context": ("context:pre_compact", "context:post_compact", "context:post_compact"),
    "provider": ("provider:request", "provider:response", "provider:error"),
    "approval": ("approval:required", "approval:granted", "approval:denied"),
    "prompt": ("prompt:submit", "prompt:complete", "error:orchestration"),
    "session": ("session:start", "session:end", "error:orchestration"),
    "orchestrator": ("prompt:submit", "orchestrator:complete", "error:orchestration"),
    "execution": ("execution:start", "execution:complete", "error:orchestration"),
    "plan": ("plan:start", "plan:end", "plan:end"),
}
"""For each subject the event before, the one after, and the one for a failure."""

_INNER_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def keep_letters(name: str) -> str:
    """`ToolPre`, `tool_pre` and `tool.pre` are the letters of `tool:pre`."""
    return re.sub("[^a-z*]", "", name.lower())


_OURS = {keep_letters(name): ours for ours, names in _THEIRS.items() for name in names.split()}


def translate(name: str) -> str | None:
    """Our event for the name that another program has for it; None if the name says nothing."""
    return find_named(name) or _guess(name)


def find_named(name: str) -> str | None:
    """Our event for a name of the table; None for one that has to be guessed."""
    if ":" in name:
        return None
    return _OURS.get(keep_letters(name))


def _guess(name: str) -> str | None:
    """`toolBefore`, `pre_tool_hook` and `tool:before` are about a tool, and before it."""
    words = set(re.sub("[^a-z]+", " ", _INNER_CAPITAL.sub(" ", name).lower()).split())
    family = name.partition(":")[0]
    about = (one for one, meanings in _SUBJECTS.items() if words.intersection(meanings))
    subject = family if family in _MOMENTS else next(about, None)
    if subject is None:
        return None
    before, after, failed = _MOMENTS[subject]
    if words & _FAILED:
        return failed
    if words & _AFTER:
        return after
    return before


KNOWN = frozenset(one for event in ALL_EVENTS for one in spellings(event))
"""Every event, in each of its spellings."""

# Names of our families that have no constant: the first is ours, the others are of modules that
# exist. The one of another family is emitted by modules of ours.
_ALSO_EMITTED = frozenset(
    {"session:config", "tool:selecting", "tool:selected", "provider:selected", "user:prompt"}
    | {"mcp:list"}
)
_EXPECTED = KNOWN | _ALSO_EMITTED
_FAMILIES = frozenset(event.partition(":")[0] for event in KNOWN)
_PATTERNS = frozenset(
    pattern
    for group, _, moment in (event.partition(":") for event in KNOWN)
    for pattern in (f"{group}:*", f"*:{moment}")
)


def check_event(event: Any) -> None:
    """Refuse what cannot be the name of an event."""
    if not isinstance(event, str):
        hint = "; the event comes first: 'tool:pre'" if callable(event) else ""
        raise TypeError(f"An event name must be a string, got {event!r}{hint}")
    if not event.strip():
        raise ValueError(f"An event name must not be empty, got {event!r}")


def is_custom(event: str) -> bool:
    """Whether nothing of ours emits an event that this name or pattern fits."""
    if "*" in event:
        return not any(fnmatchcase(one, event) for one in _EXPECTED)
    return event not in _EXPECTED


@lru_cache(maxsize=1000)
def find_problem(event: str) -> str | None:
    """Why an event of this name will never come; None if it is known or may be of a module's own.

    A module's own event has a family of its own: `deploy:start`. It may be declared, see
    `HookRegistry.declare`; a name of another form, or of one of our families, is a mistake.
    """
    if not is_custom(event):
        return None
    wrong = f"no known event matches {event!r}" if "*" in event else f"no event {event!r} is known"
    if (meant := find_meant(event)) is not None:
        return f"{wrong}; did you mean {meant!r}?"
    family, colon, _ = event.partition(":")
    if not colon:
        return f"{wrong}; one of a module's own is called like 'deploy:start'"
    if family in _FAMILIES:
        others = sorted(one for one in KNOWN if one.startswith(f"{family}:"))
        return f"{wrong}; have {', '.join(others)}"
    return None


@lru_cache(maxsize=1000)
def find_meant(event: str) -> str | None:
    """The known event, or pattern of some, that a name probably means; None for one of its own."""
    if not is_custom(event):
        return None
    if (slip := _find_slip(event, _PATTERNS if "*" in event else _EXPECTED)) is not None:
        return slip
    family, colon, _ = event.partition(":")
    if not colon or family in _FAMILIES:
        return translate(event)
    return None


def _find_slip(name: str, known: frozenset[str]) -> str | None:
    letters = keep_letters(name)
    for one in sorted(known, key=lambda one: (one != canonical(one), one)):
        if differs_by_one(name.lower(), one) or keep_letters(one) == letters:
            return one
    return None
