"""What hooks see of agents built with Strands."""

from __future__ import annotations

from amplifier_hooks.coverage.coverage import ALL, NOTHING, Act, Coverage

_STREAMED = 'text that is streamed was read before hooks could judge it, unless streams="held"'
_WITHOUT_CONTEXT: frozenset[Act] = frozenset({"deny", "modify", "ask_user"})

COVERAGE = Coverage(
    name="strands",
    framework="Strands",
    package="strands-agents",
    module="amplifier_hooks.frameworks.strands",
    attach="Agent(..., plugins=[AmplifierHooks(hooks)])",
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
        "bidirectional agents (BidiAgent)",
        "the prompt and the request of the deprecated Agent.structured_output, which is refused "
        "where a guard would have to judge them",
        "tools that the model's own service runs",
        "agents that are started inside a tool and have no AmplifierHooks of their own",
        "a tool that a middleware added after ours puts in the place of another",
        "answers that the framework writes itself, such as at a limit or by AfterToolsEvent",
    ),
    asking=("inline", "interrupt"),
    inner_agents="unseen",
    entries=(
        "agent(...)",
        "Agent.invoke_async",
        "Agent.stream_async",
        "agent.tool.name(...)",
        "Graph",
        "Swarm",
    ),
    limits={
        "provider:response": _STREAMED,
        "prompt:answer": _STREAMED,
        "prompt:answer inject_context": "nothing follows the answer that could read it",
    },
)
