"""The coordinator: every answer carried out, nothing foreign crashes it."""

# Wrong values are handed in on purpose.
# mypy: disable-error-code="arg-type, attr-defined"

from __future__ import annotations

import asyncio

import pytest

from amplifier_core.coordinator import ModuleCoordinator, SessionCoordinator
from tests.support.harness import Harness
from tests.support.hooks import PRE, asks, injects, prints, says
from tests.support.people import PlainPerson


class TestTheModuleFace:
    def test_usable_without_anything(self):
        session = ModuleCoordinator(session=None, approval_system=None, display_system=None)
        assert issubclass(ModuleCoordinator, SessionCoordinator)
        assert (session.session_id, session.parent_id, session.config) == (None, None, {})
        assert session.session_state == {}
        assert session.loader is None
        assert not hasattr(session, "emit")
        assert not hasattr(session, "session_dir")
        session.todo_state = [{"content": "x"}]
        assert session.todo_state

    def test_facts_of_the_session(self):
        class Session:
            session_id, parent_id, config = "s", "p", {"session": {"injection_size_limit": 5}}

        session = SessionCoordinator(session=Session())
        assert (session.session_id, session.parent_id) == ("s", "p")
        assert session.injection_size_limit == 5

    async def test_a_cancelled_clean_up_still_forgets(self):
        harness = Harness(approval=PlainPerson("Allow always"))
        harness.hooks.register(PRE, asks(approval_options=["Allow always", "Deny"]))
        await harness.pre()
        harness.coordinator.register_cleanup(lambda: asyncio.sleep(60))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await harness.coordinator.cleanup()
        assert harness.bodies("approval_cache_cleared") == [{"answers": 1}]

    def test_a_summary(self):
        session = SessionCoordinator(session_id="s")
        session.register_contributor("c", "n", len)
        session.register_capability("k", 1)
        assert session.to_dict() == {
            "session_id": "s", "parent_id": None, "has_orchestrator": False, "has_context": False,
            "has_approval_provider": False, "has_display_service": False,
            "providers": [], "tools": [], "hooks": {}, "capabilities": ["k"], "channels": ["c"],
        }  # fmt: skip


async def test_who_watches_hooks_sees_each_begin_and_end():
    """Once for each hook of each dispatch."""
    harness, seen = Harness(), []

    class Watching:
        def begin(self, handler):
            seen.append(("begin", handler.name))

        def end(self, handler):
            seen.append(("end", handler.name))

    harness.coordinator.watch_hooks(Watching)
    harness.hooks.register(PRE, says(), name="one")
    harness.hooks.register(PRE, prints("x"), name="two")
    await harness.pre()
    assert seen == [("begin", "one"), ("end", "one"), ("begin", "two"), ("end", "two")]


async def test_several_sessions_at_once():
    """Several sessions and hooks at once in one process."""
    harnesses = [Harness(approval=PlainPerson("Allow")) for _ in range(20)]
    for number, harness in enumerate(harnesses):
        harness.hooks.register(PRE, injects(f"text {number}"))
        harness.hooks.register(PRE, prints(f"print {number}"), name=f"p{number}")
        harness.hooks.register(PRE, asks(f"{number}?"))
    await asyncio.gather(*(harness.pre() for harness in harnesses for _ in range(5)))
    for number, harness in enumerate(harnesses):
        assert harness.texts == [f"text {number}"] * 5
        assert harness.shown == [(f"print {number}", "info", f"hook:p{number}")] * 5
