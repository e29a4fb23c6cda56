"""What hooks see of agents built with the OpenAI Agents SDK."""

from __future__ import annotations

from amplifier_hooks.coverage.coverage import ALL, NOTHING, Act, Coverage

_STREAMED = "text that is streamed was read before hooks could judge it"
_WITHOUT_CONTEXT: frozenset[Act] = frozenset({"deny", "modify", "ask_user"})
_SPAWN: frozenset[Act] = frozenset({"deny", "inject_context", "ask_user"})

COVERAGE = Coverage(
    name="openai-agents",
    framework="OpenAI Agents SDK",
    package="openai-agents",
    module="amplifier_hooks.frameworks.openai_agents",
    attach="amplify(agent, hooks)",
    events={
        "session:start": ALL - {"modify"},
        "prompt:submit": ALL,
        "provider:request": ALL,
        "provider:response": ALL,
        "tool:pre": ALL,
        "tool:post": ALL,
        "tool:error": NOTHING,
        "agent:spawn": _SPAWN,
        "agent:complete": NOTHING,
        "prompt:answer": _WITHOUT_CONTEXT,
        "prompt:complete": NOTHING,
        "session:fork": NOTHING,
        "session:end": NOTHING,
    },
    unseen=(
        "tools that OpenAI runs: web search, file search, code interpreter, image generation, "
        "hosted MCP servers and hosted shells",
        "what ComputerTool does on the screen; hooks of provider:response see that the model "
        "wants it, and can deny it",
        "realtime agents",
        "the copy of a conversation that OpenAI keeps (previous_response_id, conversation_id): "
        "what hooks change in a reply is not changed there",
        "calls of the SDK for itself, such as the compaction of a session",
    ),
    asking=("inline", "interrupt"),
    inner_agents="governed",
    entries=("Runner.run", "Runner.run_sync", "Runner.run_streamed"),
    limits={
        "provider:response": _STREAMED,
        "prompt:answer": _STREAMED,
        "prompt:answer inject_context": "nothing follows the answer that could read it",
        "agent:spawn modify": "the SDK has chosen the agent and its input by then",
    },
)
