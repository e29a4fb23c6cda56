"""Every event of sessions in which much happens carries exactly the fields of its type."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from amplifier_core import events
from amplifier_core.llm_errors import LLMError
from amplifier_core.testing import EventRecorder, MockTool, ScriptedApproval
from amplifier_hooks import AssembledSession, open_session
from tests.core.test_events import conforms
from tests.support.hooks import asks, says
from tests.support.project import Project, script
from tests.support.sessions import SessionHarness, calls

FAILS_WHEN_READY = """
async def mount(coordinator, config=None):
    return None


async def on_session_ready(coordinator):
    raise RuntimeError("not ready")
"""

ONLY_OTHERS_EMIT = {
    "plan:start", "plan:end", "provider:resolve", "llm:request", "llm:response",
    "provider:throttle", "provider:tool_sequence_repaired", "context:include", "context:compaction",
}  # fmt: skip
OTHER_SPELLINGS = {"error:tool", "error:provider", "execution:end"}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def hear(registry: Any) -> EventRecorder:
    """Everything from here on; also what a later hook denies, so first of all."""
    heard = EventRecorder()
    registry.register("*", heard, priority=-10_000, name="heard")
    return heard


async def open_and_hear(
    project: Project, **sections: Any
) -> tuple[AssembledSession, EventRecorder]:
    bundle = project.bundle(**sections)
    heard = EventRecorder()
    session = await open_session(
        bundle,
        working_dir=project.folder,
        display_system=project.screen,
        approval_system=ScriptedApproval("Deny", "Allow"),
        prepare=lambda made: made.coordinator.hooks.register("*", heard, -10_000, "heard"),
    )
    return session, heard


async def work_with_files_and_helpers(project: Project) -> EventRecorder:
    """Approved and refused calls, files, a helper that works and one that fails, a compaction."""
    notes = str(project.write("notes.txt", "a few words"))
    project.write("late.py", FAILS_WHEN_READY)
    helper = {"description": "Helps.", "providers": script(calls("Read", file_path=notes), "Read.")}
    clumsy = {"description": "Fails.", "providers": script({"error": "invalid_request"})}
    made = [
        {"name": "Delegate", "input": {"agent_name": name, "task": "read"}}
        for name in ("helper", "clumsy", "nobody")
    ]
    session, heard = await open_and_hear(
        project,
        tools=["tool-filesystem", "tool-delegate", "tool-missing", "./late.py"],
        providers=script(
            {"error": "overloaded"},
            calls("Read", file_path=notes),
            calls("Write", file_path=notes, content="more"),
            {"tool_calls": made},
            "Done.",
        ),
        agents={"helper": helper, "clumsy": clumsy},
    )
    session.coordinator.hooks.register("tool:pre", asks("Run it?"), name="asker")
    async with session:
        await session.execute("go", metadata={"source": "test"})
        await session.compact()
    return heard


async def stop_at_once() -> EventRecorder:
    """A turn that a person stops while a tool runs."""
    started = asyncio.Event()

    class Waiting(MockTool):
        async def execute(self, tool_input: dict[str, Any]) -> Any:
            started.set()
            await asyncio.Event().wait()

    harness = SessionHarness(
        [calls("Wait"), {"text": "never"}], tools=[Waiting("Wait")], loop="loop-streaming"
    )
    heard = hear(harness.hooks)
    async with harness:
        turn = asyncio.ensure_future(harness.session.execute("go"))
        await started.wait()
        await harness.coordinator.request_cancel(immediate=True)
        await turn
    return heard


async def fail_in_every_way() -> EventRecorder:
    """A tool that raises, a model that fails, a prompt that is denied, in a child that resumes."""
    first = SessionHarness([{"text": "hi"}])
    async with first:
        await first.session.execute("hello")
        state = await first.session.state()
    harness = SessionHarness(
        [{"thinking": "hm", **calls("Broken")}, {"text": "sorry"}, {"error": "invalid_request"}],
        tools=[MockTool("Broken", ValueError("no"))],
        loop="loop-streaming",
        state=state,
        parent_id="the-parent",
        session={"metadata": {"team": "blue"}},
    )
    heard = hear(harness.hooks)
    async with harness:
        await harness.session.execute("go")
        with pytest.raises(LLMError):
            await harness.session.execute("again")
        harness.hooks.register("prompt:submit", says("deny", reason="no"), name="guard")
        await harness.session.execute("once more")
    return heard


def check(told: Iterable[tuple[str, dict[str, Any]]]) -> None:
    for event, data in told:
        conforms(event, data)
        assert data["session_id"], event
        assert data["timestamp"], event


async def test_every_payload_has_exactly_the_typed_fields(project: Project) -> None:
    """No field is missing, none is extra; and every event that we emit was heard."""
    told = [
        *(await work_with_files_and_helpers(project)).events,
        *(await stop_at_once()).events,
        *(await fail_in_every_way()).events,
    ]
    check(told)
    heard = {events.canonical(event) for event, _ in told}
    assert set(events.ALL_EVENTS) - ONLY_OTHERS_EMIT - OTHER_SPELLINGS - heard == set()


async def test_a_session_with_a_parent_says_so_at_its_beginning() -> None:
    """`session:fork` names the child, and comes before anything else of it."""
    heard = await fail_in_every_way()
    ((_, fork),) = heard.get_events("session:fork")
    assert fork["child_id"] == fork["session_id"]
    assert fork["parent"] == fork["parent_id"] == "the-parent"
    assert heard.names[:3] == ["session:fork", "session:start", "session:resume"]
