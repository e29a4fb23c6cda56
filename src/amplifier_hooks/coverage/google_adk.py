"""What hooks see of agents built with Google's Agent Development Kit."""

from __future__ import annotations

from amplifier_hooks.coverage.coverage import ALL, NOTHING, Act, Coverage

_STREAMED = "text that is streamed was read before hooks could judge it"
_WITHOUT_CONTEXT: frozenset[Act] = frozenset({"deny", "modify", "ask_user"})

COVERAGE = Coverage(
    name="google-adk",
    framework="Google ADK",
    package="google-adk",
    module="amplifier_hooks.frameworks.google_adk",
    attach="Runner(..., plugins=[AmplifierPlugin(hooks)])",
    events={
        "session:start": ALL - {"modify"},
        "prompt:submit": ALL,
        "provider:request": ALL,
        "provider:response": ALL,
        "tool:pre": ALL,
        "tool:post": ALL,
        "tool:error": NOTHING,
        "prompt:answer": _WITHOUT_CONTEXT,
        "prompt:complete": NOTHING,
        "session:fork": NOTHING,
        "session:end": NOTHING,
    },
    unseen=(
        "live sessions (run_live): what the user and the model say; tool calls are seen",
        "tools that the model's own service runs, such as Google Search in Gemini, "
        "and code executors",
        "agents behind A2A, and what else runs on another machine",
        "the tools of an agent in AgentTool(include_plugins=False)",
        "what a plugin after ours, or a callback of the agent, changes in a request to the model "
        "or in its reply",
    ),
    asking=("inline", "interrupt"),
    entries=("Runner.run_async", "Runner.run", "InMemoryRunner.run_debug"),
    limits={
        "provider:response": _STREAMED,
        "prompt:answer": _STREAMED,
        "prompt:answer inject_context": "nothing follows the answer that could read it",
    },
)
