"""AGENT-HOOKS 0.1, a public contract between hosts of agents and the interceptors that judge them.

As a host, interceptors of the contract judge our sessions:
    host_interceptors(session, [interceptor])

As a guest, our hooks judge in any host of the contract:
    emitter.register(AmplifierInterceptor("amplifier.yaml"))
"""

from amplifier_hooks.coverage import AGENT_HOOKS, Coverage
from amplifier_hooks.frameworks.agent_hooks.guest import AmplifierInterceptor
from amplifier_hooks.frameworks.agent_hooks.host import (
    InterceptionHost,
    describe_surface,
    host_declaration,
    host_interceptors,
)

__all__ = [
    "AmplifierInterceptor",
    "InterceptionHost",
    "coverage",
    "describe_surface",
    "host_declaration",
    "host_interceptors",
]


def coverage() -> Coverage:
    """What hooks see as a guest, and what their answers can do."""
    return AGENT_HOOKS
