"""The events that the specification names on the registry itself."""

from __future__ import annotations

from typing import Final

from amplifier_core import events


class RegistryNames:
    """`HookRegistry.TOOL_PRE` and the others, with the specification's spellings."""

    SESSION_START = events.SESSION_START
    SESSION_END = events.SESSION_END
    PROMPT_SUBMIT = events.PROMPT_SUBMIT
    TOOL_PRE = events.TOOL_PRE
    TOOL_POST = events.TOOL_POST
    CONTEXT_PRE_COMPACT: Final = "context:pre-compact"
    AGENT_SPAWN = events.AGENT_SPAWN
    AGENT_COMPLETE = events.AGENT_COMPLETE
    ORCHESTRATOR_COMPLETE = events.ORCHESTRATOR_COMPLETE
    USER_NOTIFICATION = events.USER_NOTIFICATION
    DECISION_TOOL_RESOLUTION = events.DECISION_TOOL_RESOLUTION
    DECISION_AGENT_RESOLUTION = events.DECISION_AGENT_RESOLUTION
    DECISION_CONTEXT_RESOLUTION = events.DECISION_CONTEXT_RESOLUTION
    ERROR_TOOL = events.ERROR_TOOL
    ERROR_PROVIDER = events.ERROR_PROVIDER
    ERROR_ORCHESTRATION = events.ERROR_ORCHESTRATION
