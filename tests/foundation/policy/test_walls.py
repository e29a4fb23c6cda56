"""How tools and hooks come by a wall."""

from __future__ import annotations

from amplifier_core.testing import TestCoordinator
from amplifier_foundation.machine.sandbox.protection import Protection
from amplifier_foundation.policy.places import list_places
from amplifier_foundation.policy.walls import build_wall, get_wall_builder
from amplifier_foundation.session.wall import SandboxOptions, SessionWall


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
