"""The emitter of a host is built from a declaration."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("agent_hooks")

from agent_hooks import AgentContextBuilder, IdentityProvider, Verdict

from amplifier_hooks.frameworks.agent_hooks.host import build_emitter, describe_surface


class Allow:
    def intercept(self, context: dict[str, Any], /) -> Verdict:
        return Verdict.allow()


def make_context() -> dict[str, Any]:
    builder = AgentContextBuilder(agent_id="a", framework="f", session_id="s")
    return builder.input(content="go")


def test_the_surface_has_every_point_and_hands_over_whole_answers() -> None:
    """A declaration that wants more is refused."""
    surface = describe_surface().to_wire()
    assert len(surface["interception_points"]) == 8
    assert "incremental_output" not in surface["capabilities"]


async def test_a_record_names_the_interceptors_that_have_names() -> None:
    """And the declaration that held."""
    emitter = build_emitter({"policy": Allow()}, None, {})
    record = await emitter.emit_unchecked(make_context())
    assert (record.interceptors_registered, record.declaration) == (
        1,
        "agent-hooks-declaration/1.0",
    )
    assert emitter.declaration is not None
    assert [one.id for one in emitter.declaration.bindings] == ["policy"]


def test_people_are_not_held_to_the_time_of_an_interceptor() -> None:
    """Five seconds would refuse every approval of a person."""
    default = build_emitter([Allow()], None, {}).declaration
    given = build_emitter([Allow()], None, {"timeout": None, "resolver_timeout": 0.5}).declaration
    assert default is not None
    assert given is not None
    assert default.configuration["timeouts"] == {
        "approval_resolver_ms": None,
        "interceptor_ms": 5000,
    }
    assert given.configuration["timeouts"] == {
        "approval_resolver_ms": 500,
        "interceptor_ms": None,
    }


async def test_a_provider_of_identities_may_be_ones_own() -> None:
    """Or there is none."""
    own = IdentityProvider("numbers", lambda context: str(context["sequence"]))
    record = await build_emitter([Allow()], None, {"identity_provider": own}).emit_unchecked(
        make_context()
    )
    assert (record.identity_provider, record.input_identity) == ("numbers", "0")
    unbound = build_emitter([Allow()], None, {"identity_provider": None})
    assert (await unbound.emit_unchecked(make_context())).input_identity is None
