"""What hooks inject in whole sessions: where it goes, and what is said when it cannot go there."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from amplifier_core import events
from amplifier_core.llm_errors import LLMError
from amplifier_core.testing import EventRecorder, MemoryContext, MockTool
from tests.support.hooks import injects
from tests.support.project import Project, messages_of, script
from tests.support.sessions import SessionHarness, calls

MET_IN_AN_ORDINARY_SESSION = {
    "session:start", "prompt:submit", "execution:start", "provider:request", "provider:response",
    "decision:tool_resolution", "tool:pre", "tool:post", "tool:error", "orchestrator:complete",
    "execution:complete", "prompt:complete", "user:notification", "session:end", "provider:error",
    "error:orchestration",
}  # fmt: skip


class RefusesHooks(MemoryContext):
    """A context in which nothing of a hook can be stored."""

    def add_message(self, *args: Any, **more: Any) -> Any:
        if "'source': 'hook'" in str((args, more)):
            raise RuntimeError("there is no room")
        return super().add_message(*args, **more)


async def run_an_ordinary_session(harness: SessionHarness) -> None:
    """A call that works, one that fails, an answer, and a second turn whose model fails."""
    session = harness.session
    await session.initialize()
    await harness.coordinator.mount("context", RefusesHooks())
    for tool in harness.tools.values():
        await harness.coordinator.mount("tools", tool)
    await session.start()
    await session.execute("go")
    with suppress(LLMError):
        await session.execute("again")
    await session.cleanup()


async def test_an_injection_that_fails_is_an_error_on_every_event() -> None:
    """The hook's message is shown at level error, and the session goes on to its end."""
    for event in sorted(MET_IN_AN_ORDINARY_SESSION):
        harness = SessionHarness(
            [calls("Echo"), calls("Broken"), {"text": "done"}, {"error": "invalid_request"}],
            tools=[MockTool("Echo", "ok"), MockTool("Broken", ValueError("no"))],
        )
        heard = harness.listen()
        harness.hooks.register(event, injects("x", user_message="look"), name="linter")
        await run_an_ordinary_session(harness)
        assert ("look", "error", "hook:linter") in harness.screen.messages, event
        assert {events.canonical(one) for one in heard.names} >= MET_IN_AN_ORDINARY_SESSION


@pytest.mark.parametrize("role", ["system", "user", "assistant"])
async def test_what_is_injected_at_an_error_is_read_in_the_same_turn(role: str) -> None:
    """Behind the result of the tool that failed, in the role that the hook chose."""
    harness = SessionHarness(
        [calls("Broken"), {"text": "sorry"}], tools=[MockTool("Broken", ValueError("no"))]
    )
    hook = injects("Try another.", context_injection_role=role)
    harness.hooks.register("error:tool", hook, name="advisor")
    requests = EventRecorder()
    harness.hooks.register("provider:request", requests)
    async with harness:
        await harness.session.execute("go")
    sent = requests.events[-1][1]["messages"]
    said = [(one["role"], one["content"]) for one in sent[-2:]]
    assert said == [("tool", "ValueError: no"), (role, "Try another.")]


async def test_what_is_injected_when_a_sub_agent_ends_reaches_its_parent(tmp_path: Path) -> None:
    """The child is over by then; it is the parent that can use it."""
    project = Project(tmp_path)
    task = calls("Delegate", agent_name="helper", task="look")
    bundle = project.bundle(
        tools=["tool-delegate"],
        providers=script(task, {"expect": "Check what it says.", "text": "Checked."}),
        agents={"helper": {"description": "Helps.", "providers": script("All is well.")}},
    )
    async with project.session(bundle) as session:
        session.coordinator.hooks.register("agent:complete", injects("Check what it says."))
        assert await session.execute("go") == "Checked."
        assert messages_of(session, "tool") == ["All is well."]
        assert messages_of(session, "system") == ["Check what it says."]
