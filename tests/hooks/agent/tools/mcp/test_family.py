"""A session and its sub-agents share one process for each server."""

from __future__ import annotations

from amplifier_core.testing import TestCoordinator
from amplifier_hooks.agent.tools.mcp.family import Family, find_family
from tests.support.mcp_links import FakeServer


async def test_the_last_user_ends_the_server():
    """Whoever leaves earlier takes nothing from the others."""
    server, family = FakeServer(), Family()
    first = family.take("calc", server.connect)
    assert family.take("calc", server.connect) is first
    await first.start()
    await family.give_back("calc")
    assert first.problem is None
    await family.give_back("calc")
    assert first.problem is not None
    assert family.take("calc", server.connect) is not first


async def test_another_key_is_another_connection():
    """A server with other options is another one."""
    family = Family()
    one = family.take("a", FakeServer().connect)
    assert family.take("b", FakeServer().connect) is not one
    await family.give_back("never taken")


async def test_a_sub_agent_belongs_to_the_family_of_its_parent():
    """And to no other."""
    parent = find_family(TestCoordinator(session_id="parent"))
    child = find_family(TestCoordinator(session_id="child", parent_id="parent"))
    grandchild = find_family(TestCoordinator(session_id="grandchild", parent_id="child"))
    assert child is parent
    assert grandchild is parent
    assert find_family(TestCoordinator(session_id="stranger")) is not parent


async def test_a_family_is_forgotten_with_its_last_session():
    """A later session of the same name starts anew."""
    first = find_family(TestCoordinator(session_id="again"))
    first.take("calc", FakeServer().connect)
    del first
    assert find_family(TestCoordinator(session_id="again"))._shared == {}
