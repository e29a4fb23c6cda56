"""What the adapter for Pydantic AI sees."""

from __future__ import annotations

from amplifier_core import events
from amplifier_hooks.coverage.coverage import ALL, NOTHING, Act, Coverage

_HEARD: frozenset[Act] = frozenset({"inject_context"})
_ANSWERED: frozenset[Act] = frozenset({"deny", "modify", "ask_user"})
_STREAMED = (
    "what is streamed has been read before hooks judge it: if they deny it, the run raises "
    "RunRefused; if they change it, only the result and the messages change, a warning says so, "
    "and run_stream has no other result; tool calls wait"
)

COVERAGE = Coverage(
    name="pydantic-ai",
    framework="Pydantic AI",
    package="pydantic-ai-slim",
    module="amplifier_hooks.frameworks.pydantic_ai",
    attach='Agent(model, capabilities=[AmplifierHooks("amplifier.yaml")])',
    events={
        events.SESSION_START: frozenset({"deny", "inject_context", "ask_user"}),
        events.PROMPT_SUBMIT: ALL,
        events.PROVIDER_REQUEST: ALL,
        events.PROVIDER_RESPONSE: ALL,
        events.TOOL_PRE: ALL,
        events.TOOL_POST: ALL,
        events.TOOL_ERROR: _HEARD,
        events.PROMPT_ANSWER: _ANSWERED,
        events.PROMPT_COMPLETE: NOTHING,
        events.SESSION_FORK: NOTHING,
        events.AGENT_SPAWN: _ANSWERED,
        events.AGENT_COMPLETE: _HEARD,
        events.SESSION_END: NOTHING,
    },
    asking=("inline", "interrupt"),
    inner_agents="unseen",
    entries=(
        "agent.run",
        "agent.run_sync",
        "agent.run_stream",
        "agent.run_stream_sync",
        "agent.run_stream_events",
        "agent.iter",
        "each of them with capabilities=[AmplifierHooks(…)] for one run",
    ),
    unseen=(
        "agents without the capability, also those that a tool of a governed agent runs",
        "tools that the model made up, and calls whose arguments the tool does not take: "
        "Pydantic AI answers them itself",
        "output tools, which carry the answer; hooks see it at prompt:answer",
        "tools that the provider runs itself (web search, code execution)",
        "requests that a program sends to a model without an agent (pydantic_ai.direct)",
        "external tools: somebody else runs them, and brings their results",
        "what other capabilities make of the answer afterwards in wrap_run",
        "what is said in realtime sessions, which have not been tried",
    ),
    limits={
        f"{events.SESSION_START} modify": "there is nothing to change when a run starts",
        events.PROVIDER_RESPONSE: _STREAMED,
        events.PROMPT_ANSWER: _STREAMED,
        f"{events.PROMPT_ANSWER} inject_context": "nothing follows the answer that could read it",
        f"{events.AGENT_SPAWN} inject_context": "hooks of the sub-agent's own session:start and "
        "prompt:submit can add to it",
    },
)
