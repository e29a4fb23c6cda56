"""The emitter of a host: built from a declaration, so that each record says what held."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict

from agent_hooks import (
    DECLARATION_VERSION,
    JCS_SHA256,
    SPEC_VERSION,
    AgentContext,
    ApprovalResolver,
    BindingContext,
    CompositionConfig,
    EnforcementMode,
    HostRegistry,
    HostSurface,
    IdentityProvider,
    InterceptionEmitter,
    Interceptor,
)

FRAMEWORK = "amplifier-hooks"

CAPABILITIES = (
    "bigint_json",
    "host_declaration",
    "int64_json",
    "model_calls",
    "multi_turn",
    "parallel_tool_calls",
    "tool_calls",
)

DEFAULT_TIMEOUT = 5.0

_KIND = "amplifier.interceptor"
_NAME = "host"


def describe_surface() -> HostSurface:
    """What this host can do: what a declaration is checked against."""
    return HostSurface.from_capabilities(CAPABILITIES, "continue")


class HostOptions(TypedDict, total=False):
    """How the interceptors of a host are run."""

    mode: EnforcementMode
    """`enforce`, or `evaluate_only`: they are asked and recorded, and nothing comes of it."""
    composition: CompositionConfig
    """How several verdicts become one; if not said, the first denial ends the sequence."""
    identity_provider: str | IdentityProvider | None
    """What binds a record to its context: `jcs-sha256`, if not said."""
    redactor: Callable[[AgentContext], AgentContext] | None
    """Makes of a context what the resolver of an approval may see."""
    timeout: float | None
    """Seconds for each interceptor: 5, if not said."""
    resolver_timeout: float | None
    """Seconds for the resolver; if not said, as long as the question may wait."""


def build_emitter(
    interceptors: Sequence[Interceptor] | Mapping[str, Interceptor],
    resolver: ApprovalResolver | None,
    options: HostOptions,
) -> InterceptionEmitter:
    """An emitter over interceptors that a program has at hand; with names, records tell them."""
    named = (
        dict(interceptors)
        if isinstance(interceptors, Mapping)
        else {f"interceptor-{number}": one for number, one in enumerate(interceptors)}
    )

    def find(config: Any, binding: BindingContext) -> Interceptor:
        return named[config["name"]]

    registry = HostRegistry(describe_surface()).kind(_KIND, find)
    document = {
        "declaration": DECLARATION_VERSION,
        "spec": SPEC_VERSION,
        "id": FRAMEWORK,
        "host": {"name": FRAMEWORK},
        "configuration": _configure(registry, resolver, options),
        "bindings": [{"id": name, "kind": _KIND, "config": {"name": name}} for name in named],
    }
    return InterceptionEmitter.from_declaration_value(document, registry)


def _configure(
    registry: HostRegistry, resolver: ApprovalResolver | None, options: HostOptions
) -> dict[str, Any]:
    provider, redactor = options.get("identity_provider", JCS_SHA256), options.get("redactor")
    if isinstance(provider, IdentityProvider):
        registry.identity_provider(provider.name, provider.fn)
        provider = provider.name
    if resolver is not None:
        registry.approval_resolver(_NAME, resolver)
    if redactor is not None:
        registry.approval_redactor(_NAME, redactor)
    return {
        "mode": EnforcementMode(options.get("mode", EnforcementMode.ENFORCE)).value,
        "composition": options.get("composition", CompositionConfig.default()).to_wire(),
        "identity_provider": provider,
        "approval": {
            "resolver": None if resolver is None else _NAME,
            "redactor": None if redactor is None else _NAME,
        },
        "timeouts": {
            "interceptor_ms": _to_milliseconds(options.get("timeout", DEFAULT_TIMEOUT)),
            "approval_resolver_ms": _to_milliseconds(options.get("resolver_timeout")),
        },
    }


def _to_milliseconds(seconds: float | None) -> int | None:
    return None if seconds is None else max(1, int(seconds * 1000))
