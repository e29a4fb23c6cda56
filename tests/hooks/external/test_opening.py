"""Opening what stands behind a run: a session of a bundle, or a coordinator over hooks."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from amplifier_core import HookRegistry, HookResult
from amplifier_core.errors import SessionDenied
from amplifier_core.session import SHADOW
from amplifier_core.testing import (
    EventRecorder,
    MemoryAudit,
    RecordingDisplay,
    ScriptedApproval,
    TestCoordinator,
)
from amplifier_hooks.external.conversation import ExternalContext
from amplifier_hooks.external.opening import (
    BundleSource,
    CoordinatorSource,
    RegistrySource,
    Settings,
    explain_end,
    open_child,
)
from amplifier_hooks.guards.policy.protected_places import get_places
from tests.support.project import Project

CALL = {"tool_name": "a", "tool_input": {}}
HOOK = """
from amplifier_core import HookResult, hook

@hook("session:start")
async def greet(event, data):
    return HookResult(action="inject_context", context_injection="Be brief.")

@hook("tool:pre")
async def ask(event, data):
    return HookResult(action="ask_user", approval_prompt="May it?")
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    made = Project(tmp_path)
    monkeypatch.setenv("HOME", str(made.home))
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(made.home))
    made.write("mine.py", HOOK)
    made.write(
        "amplifier.yaml",
        "inherit: false\nhooks:\n  - module: mine\n    source: ./mine.py\n"
        "session: {orchestrator: loop-basic, context: context-simple}\n"
        "providers: [{module: provider-scripted, config: {script: []}}]\n"
        "tools: [tool-bash]\n",
    )
    return made


async def test_a_bundle_brings_its_hooks_and_nothing_that_acts(project: Project) -> None:
    """No model, no tools; what hooks said at the start waits for the first request."""
    settings = Settings(ScriptedApproval("Allow"), project.screen, folder=project.folder)
    opened = await BundleSource.load("amplifier.yaml", settings).open("test")
    points = opened.coordinator.mount_points
    assert (points["providers"], points["tools"]) == ({}, {})
    assert [one["content"] for one in opened.context.take()] == ["Be brief."]
    outcome = await opened.coordinator.execute_with_hooks("tool:pre", CALL)
    assert outcome.action == "continue"
    await opened.end("complete")


async def test_a_bundle_that_asks_nobody_asks_nobody(project: Project) -> None:
    """`approval: {mode: deny}` holds, also for a framework that would ask itself."""
    path = project.folder / "amplifier.yaml"
    path.write_text(path.read_text() + "approval: {mode: deny}\n")
    settings = Settings(ScriptedApproval("Allow"), project.screen, folder=project.folder)
    opened = await BundleSource.load("amplifier.yaml", settings).open("test")
    outcome = await opened.coordinator.execute_with_hooks("tool:pre", CALL)
    assert outcome.action == "deny"
    await opened.end("complete")


async def test_a_registry_has_a_session_for_each_run() -> None:
    """With its own id, told to the hooks and in the trail."""
    registry, heard, audit = HookRegistry(), EventRecorder(), MemoryAudit()
    for event in ("session:start", "session:end"):
        registry.register(event, heard)
    source = RegistrySource(registry, Settings(audit=audit))
    first, second = await source.open("test"), await source.open("test")
    assert first.coordinator.session_id != second.coordinator.session_id
    await first.end("complete")
    assert heard.names == ["session:start", "session:start", "session:end"]
    ids = {data["session_id"] for _, data in heard.events}
    assert ids == {first.coordinator.session_id, second.coordinator.session_id}
    assert len(audit.of_type("session_ended")) == 1


async def test_a_refused_start_is_ended() -> None:
    """Who heard of the start hears of the end."""
    registry, heard = HookRegistry(), EventRecorder()
    registry.register("session:end", heard)
    registry.register("session:start", EventRecorder(HookResult(action="deny", reason="no")))
    with pytest.raises(SessionDenied, match="no"):
        await RegistrySource(registry, Settings()).open("test")
    assert heard.names == ["session:end"]


async def test_a_coordinator_made_by_hand_stays_open() -> None:
    """Its own context gets what hooks inject, too."""
    coordinator = TestCoordinator()
    owner = coordinator.context
    opened = await CoordinatorSource(coordinator).open("test")
    again = await CoordinatorSource(coordinator).open("test")
    assert isinstance(opened.context, ExternalContext)
    assert again.context is opened.context
    await opened.context.add_message({"role": "user", "content": "a"})
    assert owner is not None
    assert len(await owner.get_messages()) == 1
    await opened.end("complete")
    assert not coordinator.recorded.of_type("session_ended")


async def test_a_child_has_its_parent_s_hooks_people_and_trail() -> None:
    """And a session of its own."""
    parent = TestCoordinator(approval_system=ScriptedApproval("Allow"))
    heard = EventRecorder()
    for event in ("session:fork", "session:start", "session:end"):
        parent.hooks.register(event, heard)
    parent.register_scrubber(lambda text: text.replace("secret", "[removed]"))
    child = await open_child(parent, "helper", "test")
    assert child.coordinator.parent_id == parent.session_id
    assert child.coordinator.approval_system is parent.approval_system
    assert child.coordinator.scrub("a secret") == "a [removed]"
    await child.end("complete")
    assert heard.names == ["session:fork", "session:start", "session:end"]
    assert heard.events[0][1]["child_id"] == child.coordinator.session_id
    sessions = {one["session"] for one in parent.recorded.of_type("session_started")}
    assert sessions == {child.coordinator.session_id}


async def test_a_registry_in_shadow_mode_says_so_at_the_start_of_each_run() -> None:
    """And the trail does; a refused start is none."""
    registry, audit, screen = HookRegistry(mode="evaluate_only"), MemoryAudit(), RecordingDisplay()
    registry.register("session:start", EventRecorder(HookResult(action="deny", reason="no")))
    opened = await RegistrySource(registry, Settings(None, screen, audit)).open("test")
    assert (SHADOW, "warning", "session") in screen.messages
    assert audit.of_type("session_started")[0]["body"]["shadow"] is True
    child = await open_child(opened.coordinator, "helper", "test")
    assert [text for text, _, _ in screen.messages].count(SHADOW) == 1
    await child.end("complete")
    await opened.end("complete")


async def test_a_refused_start_ends_as_denied() -> None:
    """Hooks that were told of the start are told of its end."""
    registry, audit, heard = HookRegistry(), MemoryAudit(), EventRecorder()
    registry.register("session:start", EventRecorder(HookResult(action="deny", reason="no")))
    registry.register("session:end", heard)
    with pytest.raises(SessionDenied):
        await RegistrySource(registry, Settings(audit=audit)).open("test")
    assert heard.events[0][1]["reason"] == "denied"
    assert audit.of_type("session_ended")[0]["body"]["reason"] == "denied"


async def test_a_start_that_is_cancelled_is_ended() -> None:
    """Nobody has got the session, so nobody else could end it."""
    telling, registry, audit = asyncio.Event(), HookRegistry(), MemoryAudit()

    async def wait(event: str, data: Any) -> HookResult:
        telling.set()
        await asyncio.Event().wait()
        return HookResult()

    registry.register("session:start", wait)
    source = RegistrySource(registry, Settings(audit=audit))
    task = asyncio.create_task(source.open("test"))
    await telling.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [one["body"]["reason"] for one in audit.of_type("session_ended")] == ["user_exit"]


def test_how_something_ended_is_read_from_what_it_raised() -> None:
    """Somebody stopped it, or it failed."""
    assert explain_end(asyncio.CancelledError()) == "user_exit"
    assert explain_end(KeyboardInterrupt()) == "user_exit"
    assert explain_end(OSError("broken")) == "error"


async def test_a_run_walks_no_folder(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is listed for the tools of a session is listed when somebody asks for it."""
    (project.folder / "inner" / ".git").mkdir(parents=True)
    settings = Settings(ScriptedApproval("Allow"), project.screen, folder=project.folder)
    source = BundleSource.load("amplifier.yaml", settings)
    await (await source.open("test")).end("complete")  # what is imported, or compiled once
    walked: list[Any] = []

    def count(walk: Any) -> Any:
        def counted(*given: Any) -> Any:
            # Python itself looks for packages elsewhere, after an import of something new.
            if project.folder.parent in (Path(*given), *Path(*given).parents):
                walked.append(given)
            return walk(*given)

        return counted

    for name in ("scandir", "listdir"):
        monkeypatch.setattr(os, name, count(getattr(os, name)))
    opened = await source.open("test")
    assert walked == []
    places = get_places(opened.coordinator)
    assert walked != []
    assert places is not None
    assert places.find_refusal(project.folder / "inner/.git/config", writing=True)
    await opened.end("complete")


async def test_runs_that_start_together_leave_the_loop_to_others(project: Project) -> None:
    """Each mounts its hooks in a turn of its own."""
    settings = Settings(
        ScriptedApproval("Allow"), project.screen, MemoryAudit(), folder=project.folder
    )
    source = BundleSource.load("amplifier.yaml", settings)
    order: list[str] = []

    async def run() -> None:
        opened = await source.open("test")
        order.append("run")
        await opened.end("complete")

    async def tick() -> None:
        while order.count("run") < 20:
            order.append("tick")
            await asyncio.sleep(0)

    ticking = asyncio.create_task(tick())
    await asyncio.gather(*(run() for _ in range(20)))
    await ticking
    first = order.index("run")
    between = "".join("r" if one == "run" else "." for one in order[first:])
    assert "rrr" not in between
