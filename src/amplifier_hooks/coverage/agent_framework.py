"""What the adapter for Microsoft Agent Framework sees."""

from __future__ import annotations

from amplifier_core import events
from amplifier_hooks.coverage.coverage import ALL, NOTHING, Coverage

COVERAGE = Coverage(
    name="agent-framework",
    framework="Microsoft Agent Framework",
    package="agent-framework-core",
    module="amplifier_hooks.frameworks.agent_framework",
    attach='Agent(client=client, middleware=[amplifier("amplifier.yaml")])',
    events={
        events.SESSION_START: frozenset({"deny", "inject_context", "ask_user"}),
        events.PROMPT_SUBMIT: ALL,
        events.PROVIDER_REQUEST: ALL,
        events.PROVIDER_RESPONSE: ALL,
        events.TOOL_PRE: ALL,
        events.TOOL_POST: ALL,
        events.TOOL_ERROR: NOTHING,
        events.PROMPT_ANSWER: ALL - {"inject_context"},
        events.PROMPT_COMPLETE: NOTHING,
        events.SESSION_END: NOTHING,
    },
    unseen=(
        "tools that the model's provider runs itself; their calls are part of the reply",
        "agents that are used as tools and have neither the middleware nor an amplified client",
        "executors of a workflow that are not agents",
        "agents that run elsewhere, such as those behind A2A: a run of one is refused",
        "middleware of a context provider, and a history stored after each model call: they come "
        "after the hooks of an agent, but before those of an amplified client",
    ),
    asking=("inline", "interrupt"),
    inner_agents="unseen",
    entries=(
        "await agent.run()",
        "agent.run(stream=True)",
        "await client.get_response() of an amplified client",
        "client.get_response(stream=True) of an amplified client",
    ),
    limits={
        f"{events.PROMPT_ANSWER} inject_context": "the answer ends the turn: no request follows",
        events.PROVIDER_RESPONSE: (
            "a streamed reply is held back until it is whole and judged, if a hook listens to "
            "replies or answers"
        ),
    },
)
