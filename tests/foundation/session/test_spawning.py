"""What a sub-agent shares with its parent, and what it does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_core.models import HookResult
from amplifier_core.testing import EventRecorder
from tests.support.project import Person, Workshop, calls, script


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


def family(shop: Workshop, *parent: Any, child: Any = None, **session: Any) -> dict[str, Any]:
    """A parent, and a helper that reads a file unless it is told otherwise."""
    shop.write("notes.txt", "nothing special")
    read = calls("Read", file_path=str(shop.folder / "notes.txt"))
    helper = {"description": "Helps.", "providers": script(*(child or (read, "Read it.")))}
    return {
        "session": {**shop.plan["session"], **session},
        "tools": ["tool-filesystem", "tool-delegate"],
        "providers": script(*parent),
        "agents": {"helper": helper},
    }


def delegate(*tasks: str) -> dict[str, Any]:
    """A reply that gives all these tasks to helpers at once."""
    made = [{"name": "Delegate", "input": {"agent_name": "helper", "task": t}} for t in tasks]
    return {"tool_calls": made}


def read(shop: Workshop) -> dict[str, Any]:
    return calls("Read", file_path=str(shop.folder / "notes.txt"))


async def test_always_is_not_inherited_by_the_child(shop: Workshop) -> None:
    """ "Allow always" … not inherited by sub-agents: the child's person is asked again."""
    person = Person("Allow always")

    async def gate(event: str, data: dict[str, Any]) -> HookResult:
        if data["tool_name"] != "Read":
            return HookResult()
        return HookResult(
            action="ask_user", approval_prompt="read?", approval_options=["Allow always", "Deny"]
        )

    plan = family(shop, read(shop), read(shop), delegate("read"), "Done.")
    async with shop.session(shop.bundle(**plan), approval_system=person) as session:
        session.coordinator.hooks.register("tool:pre", gate, name="gate")
        assert await session.execute("go") == "Done."
    assert person.asked == ["read?", "read?"]  # once for the parent's two reads, once for the child


async def test_the_child_has_an_injection_budget_of_its_own(shop: Workshop) -> None:
    """The child has its own budget, whatever the parent's hooks have used up."""
    plan = family(shop, delegate("read"), "Done.", injection_budget_per_turn=10)
    inject = HookResult(action="inject_context", context_injection="x" * 32)
    heard = EventRecorder()
    async with shop.session(shop.bundle(**plan)) as session:
        session.coordinator.hooks.register("prompt:submit", EventRecorder(inject), name="talker")
        session.coordinator.hooks.register("provider:request", heard)
        await session.execute("go")
        assert session.coordinator.injection_budget == 8
    children = [d for _, d in heard.events if d["session_id"] != session.session_id]
    assert children
    assert all("x" * 32 in str(data["messages"]) for data in children)
    assert not [text for level, _, text in shop.screen.shown if "over the turn's budget" in text]


async def test_the_events_of_a_delegation_have_exactly_their_fields(shop: Workshop) -> None:
    """agent:spawn and agent:complete, field by field."""
    heard = EventRecorder()
    async with shop.session(shop.bundle(**family(shop, delegate("read it"), "Done."))) as session:
        session.coordinator.hooks.register("agent:*", heard)
        await session.execute("go")
    (_, spawn), (_, complete) = heard.events
    assert heard.names == ["agent:spawn", "agent:complete"]
    assert spawn.keys() == {
        "session_id", "parent_session_id", "agent_name", "task", "config_override", "timestamp",
    }  # fmt: skip
    assert complete.keys() == {
        "session_id", "parent_session_id", "agent_name", "task", "result", "duration_ms", "status",
        "timestamp",
    }  # fmt: skip
    assert spawn["config_override"]["description"] == "Helps."
    assert complete["result"]["output"] == "Read it."
    assert complete["result"]["session_id"] not in ("", session.session_id)


async def test_children_that_start_at_once_do_not_pass_the_limit_together(shop: Workshop) -> None:
    """Count is limited, for parallel calls too."""
    plan = family(shop, delegate("a", "b", "c", "d"), "Done.", limits={"agent_count": 2})
    async with shop.session(shop.bundle(**plan)) as session:
        assert await session.execute("go") == "Done."
        results = [m["content"] for m in session.context.get_messages() if m["role"] == "tool"]
    refused = [one for one in results if "2 sub-agents were started already" in one]
    assert len(refused) == 2
    assert results.count("Read it.") == 2


async def test_a_refused_child_does_not_count(shop: Workshop) -> None:
    """A spawn that a hook denied leaves the place free."""
    answers = [HookResult(action="deny", reason="not yet"), HookResult()]

    async def doorman(event: str, data: dict[str, Any]) -> HookResult:
        return answers.pop(0)

    plan = family(shop, delegate("a"), delegate("b"), "Done.", limits={"agent_count": 1})
    async with shop.session(shop.bundle(**plan)) as session:
        session.coordinator.hooks.register("agent:spawn", doorman, name="doorman")
        await session.execute("go")
        results = [m["content"] for m in session.context.get_messages() if m["role"] == "tool"]
    assert "Operation denied by doorman: not yet" in results[0]
    assert results[1] == "Read it."


async def test_a_hook_that_the_parent_gets_later_mediates_a_running_child(shop: Workshop) -> None:
    """The parent's handlers run too, live."""
    plan = family(shop, delegate("read"), "Done.")
    deny = EventRecorder(HookResult(action="deny", reason="closed"))
    async with shop.session(shop.bundle(**plan)) as session:

        async def close(event: str, data: dict[str, Any]) -> None:
            if data["session_id"] != session.session_id:
                session.coordinator.hooks.register("tool:pre", deny, name="late")

        session.coordinator.hooks.register("provider:response", close)
        await session.execute("go")
    assert [data["tool_name"] for _, data in deny.events] == ["Read"]
