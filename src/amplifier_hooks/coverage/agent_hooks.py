"""What hooks see as an interceptor in a host of AGENT-HOOKS 0.1."""

from __future__ import annotations

from amplifier_hooks.coverage.coverage import ALL, NOTHING, Act, Coverage

_REWRITES = "the contract lets nothing be rewritten there"
_START: frozenset[Act] = frozenset({"deny", "inject_context"})
_NOT_LATER: frozenset[Act] = frozenset({"deny", "modify", "ask_user"})

COVERAGE = Coverage(
    name="agent-hooks",
    framework="AGENT-HOOKS 0.1",
    package="agent-hooks-sdk",
    module="amplifier_hooks.frameworks.agent_hooks",
    attach="emitter.register(AmplifierInterceptor(hooks))",
    events={
        "session:start": _START,
        "prompt:submit": ALL,
        "provider:request": ALL,
        "provider:response": ALL,
        "tool:pre": ALL,
        "tool:post": ALL,
        "prompt:answer": _NOT_LATER,
        "prompt:complete": NOTHING,
        "session:end": NOTHING,
    },
    unseen=(
        "what the host does not emit: only its start, its end, inputs and outputs are required",
        "a tool that fails, if the host emits no result for it",
        "which of its agents a sub-agent belongs to",
    ),
    asking=("interrupt", "inline"),
    entries=("every host that emits the contract's interception points",),
    limits={
        "session:start modify": _REWRITES,
        "session:start ask_user": "a question there is a denial that nobody can lift",
        "prompt:answer inject_context": "nothing follows the answer that could read it",
    },
)
