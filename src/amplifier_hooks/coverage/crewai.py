"""What hooks see of crews of CrewAI."""

from __future__ import annotations

from amplifier_core import events
from amplifier_hooks.coverage.coverage import ALL, NOTHING, Act, Coverage

_NOT_CHANGED: frozenset[Act] = ALL - {"modify"}

COVERAGE = Coverage(
    name="crewai",
    framework="CrewAI",
    package="crewai",
    module="amplifier_hooks.frameworks.crewai",
    attach='with amplified("amplifier.yaml"): crew.kickoff()',
    events={
        events.SESSION_START: _NOT_CHANGED,
        events.SESSION_END: NOTHING,
        events.PROMPT_SUBMIT: ALL,
        events.PROMPT_ANSWER: ALL,
        events.PROMPT_COMPLETE: NOTHING,
        events.PROVIDER_REQUEST: ALL,
        events.PROVIDER_RESPONSE: ALL,
        events.TOOL_PRE: ALL,
        events.TOOL_POST: ALL,
        events.TOOL_ERROR: frozenset({"inject_context"}),
        events.AGENT_SPAWN: _NOT_CHANGED,
        events.AGENT_COMPLETE: NOTHING,
    },
    unseen=(
        "tools that a program calls without an agent, and tools that run at the provider",
        "tools that a model object runs by itself, inside its call",
        "flows, but for the crews and agents in them",
        "the prompt and the answer of Agent.kickoff(); its model calls and tool calls are seen, in "
        "a session that ends with the block or with the program",
        "text that streams, before somebody reads it",
        "that kickoff_async() was cancelled: CrewAI goes on with the crew in its thread",
    ),
    entries=("kickoff()", "kickoff_async()", "akickoff()", "kickoff_for_each()", "Agent.kickoff()"),
    limits={
        f"{events.AGENT_SPAWN} modify": "change the input of the delegating tool at tool:pre "
        "instead",
    },
)
