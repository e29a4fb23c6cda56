"""How tools and hooks come by a wall."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.session import AmplifierSession
from amplifier_core.testing import TestCoordinator
from amplifier_hooks.agent.session.capabilities import SandboxOptions, SessionWall
from amplifier_hooks.guards.policy.protected_places import list_places
from amplifier_hooks.guards.policy.walls import build_wall, get_wall_builder
from amplifier_hooks.sandbox.protection import Protection
from tests.support.sessions import plan_for

REFUSAL = "The mount plan has a sandbox that this session does not build, so no program is started"


def test_a_host_without_the_capability_has_no_wall() -> None:
    """As a coordinator of the ecosystem."""
    host = TestCoordinator()
    assert get_wall_builder(host) is None
    assert build_wall(host) is None


def test_a_program_gets_what_the_bundle_allows_and_no_more(tmp_path) -> None:
    """A question that could be asked is not asked for it."""
    host = TestCoordinator()
    found = Protection("landlock", "Landlock")
    options = SandboxOptions(network="ask")
    wall = SessionWall(options, [tmp_path], list_places([tmp_path]), found)
    host.register_capability("session.wall", wall)
    built = build_wall(host)
    assert built is not None
    assert (built.network, built.unix_sockets, built.granted) == ("deny", False, ())


@pytest.mark.parametrize(
    ("section", "starts"),
    [
        (None, True),
        ("off", True),
        ({"mode": "auto", "network": "allow"}, True),
        ("required", False),
        ({"mode": "required"}, False),
        ({"network": "deny"}, False),
        (["odd"], False),
    ],
)
async def test_nothing_is_started_without_the_wall_that_a_plan_insists_on(
    section: Any, starts: bool
) -> None:
    """A plan that is given to the kernel alone has nobody who builds the wall."""
    session = AmplifierSession(plan_for([], tool_modules=["tool-bash"], sandbox=section))
    async with session:
        told = [str(one.error) for one in session.mounting.mounted if one.error]
        assert ("Bash" in session.coordinator.get("tools")) is starts
    assert [one.partition(":")[0] for one in told] == ([] if starts else [REFUSAL])
