"""The session of ours behind each run: its start, its end, its trail, and nobody else's."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from amplifier_audit import AuditLog, AuditSettings, verify
from amplifier_core import HookResult, SessionCoordinator
from amplifier_core.testing import MemoryAudit, RecordingDisplay
from amplifier_hooks.frameworks import Governor, govern
from tests.adapters.drivers.driver import Driver
from tests.adapters.stage import DONE, Stage, ask, attempt, call, use

BUNDLE = """
hooks:
  - module: guard
    source: ./guard.py
audit: {enabled: true, path: AUDIT}
"""

READING = """
inherit: false
session: {orchestrator: loop-basic, context: context-simple}
hooks:
  - module: hooks-production-guard
    config: {shell: {}}
"""

GUARD = """
from amplifier_core import HookResult, hook

@hook("tool:pre", on_error="deny")
async def guard(event, data):
    if data["tool_name"] == "wipe":
        return HookResult(action="deny", reason="the bundle says no")
    return HookResult()
"""


async def test_a_session_starts_and_ends_with_the_run(driver: Driver, stage: Stage) -> None:
    """Both are told once."""
    stage.listen("session:start", "session:end")
    await driver.run(stage.hooks, [DONE])
    assert stage.heard.names == ["session:start", "session:end"]
    assert stage.heard.events[1][1]["reason"] == "complete"


async def test_a_refused_start_runs_nothing(driver: Driver, stage: Stage) -> None:
    """A hook may refuse the session; the model is not called, and its end is told."""
    stage.answer("session:start", HookResult(action="deny", reason="not today"))
    stage.listen("session:end")
    ran, error = await attempt(driver.run(stage.hooks, use(call("wipe", path="/"))))
    assert ran.requests == []
    assert ran.calls == []
    assert "not today" in (ran.answer if error is None else str(error))
    assert stage.heard.names == ["session:end"]


async def test_the_trail_is_complete_and_verifies(
    driver: Driver, stage: Stage, tmp_path: Path
) -> None:
    """On disk: the start, each call with its decision, the end; and the chain holds."""
    stage.answer("tool:pre", ask(), tool="wipe")
    stage.ask_person("Allow")
    log = await AuditLog.open(tmp_path / "log", AuditSettings())
    hooks = govern(stage.registry, approval=stage.person, audit=log)
    script = use(call("note", 1, text="a"), call("wipe", 2, path="/tmp/x"))
    ran = await driver.run(hooks, script)
    await hooks.close()
    await log.close()
    assert len(ran.calls) == 2
    assert verify(tmp_path / "log").verdict == "consistent"
    types = read_types(tmp_path / "log")
    wanted = {"session_started", "approval_requested", "approval_decided", "session_ended"}
    assert wanted <= set(types)
    assert types.count("tool_started") == types.count("tool_finished") == 2


def read_types(log: Path) -> list[str]:
    """The types of all records, in order."""
    files = sorted(log.rglob("*.jsonl"))
    lines = [json.loads(line) for file in files for line in file.read_bytes().splitlines()]
    return [str(one.get("type")) for one in lines]


async def test_fifty_runs_do_not_hear_one_another(driver: Driver, stage: Stage) -> None:
    """Each run has its own session: what a hook says in one is in no other."""
    count = getattr(driver, "runs_at_once", 50)

    def tell(data: dict[str, object]) -> HookResult:
        text = f"<<{data['tool_input']['text']}>>"  # type: ignore[index]
        return HookResult(action="inject_context", context_injection=text, ephemeral=True)

    stage.answer("tool:post", tell)
    hooks = stage.hooks
    work = (
        driver.run(hooks, [[call("note", number, text=f"n{number}")], DONE])
        for number in range(count)
    )
    every = await asyncio.gather(*work)
    for number, ran in enumerate(every):
        assert ran.ran("note") == [{"text": f"n{number}"}]
        last = ran.requests[-1]
        assert last.count("<<") == 1, last
        assert f"<<n{number}>>" in last
    started = {one["session"] for one in stage.of_type("session_started")}
    assert len(started) == count
    assert len(stage.of_type("session_ended")) == count


async def test_a_bundle_by_its_path(
    driver: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hooks of a file on disk; what an agent does to the file changes nothing."""
    monkeypatch.chdir(tmp_path)
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    bundle, guard = tmp_path / "amplifier.yaml", tmp_path / "guard.py"
    bundle.write_text(BUNDLE.replace("AUDIT", str(tmp_path / "audit")))
    guard.write_text(GUARD)
    hooks = govern("amplifier.yaml")
    guard.write_text("nobody = 'reads this'\n")
    bundle.unlink()
    script = use(call("note", 1, text="a"), call("wipe", 2, path="/"))
    ran = await driver.run(hooks, script)
    await hooks.close()
    assert ran.calls == [("note", {"text": "a"})]
    assert "the bundle says no" in ran.requests[-1]
    logs = [one for one in (tmp_path / "audit").iterdir() if one.is_dir()]
    assert len(logs) == 1
    assert verify(logs[0]).verdict == "consistent"


async def test_a_tool_that_no_guard_can_read_is_named(
    driver: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards read paths and commands: of these tools, note has neither."""
    monkeypatch.chdir(tmp_path)
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    (tmp_path / "amplifier.yaml").write_text(READING)
    display, audit = RecordingDisplay(), MemoryAudit()
    hooks = govern("amplifier.yaml", display=display, audit=audit)
    script = use(call("note", 1, text="a"), call("wipe", 2, path="/tmp/x"))
    ran = await driver.run(hooks, script)
    await hooks.close()
    assert len(ran.calls) == 2
    shown = [text for text, _, source in display.messages if source == "guards"]
    assert len(shown) == 1
    assert "note" in shown[0]
    assert "wipe" not in shown[0]
    assert shown[0] in [one["body"]["text"] for one in audit.of_type("user_message")]


async def test_refusing_agents_without_hooks_is_held_or_refused(
    driver: Driver, stage: Stage
) -> None:
    """A setting that nothing could hold starts no run."""
    hooks = govern(stage.registry, audit=stage.audit, ungoverned="deny")
    ran, error = await attempt(driver.run(hooks, use(call("note", text="a"))))
    await hooks.close()
    if driver.coverage.inner_agents in ("governed", "noticed"):
        assert error is None
        assert len(ran.calls) == 1
    else:
        assert ran.calls == []
        assert "session.ungoverned: deny cannot be held" in str(error)


async def test_without_hooks_nothing_of_ours_is_attached(
    driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the benchmark compares with is the framework alone."""
    opened: list[object] = []
    monkeypatch.setattr(Governor, "__init__", lambda *made: opened.append(made))
    nothing: Any = None
    ran = await driver.run(nothing, use(call("note", text="a")))
    assert ran.calls == [("note", {"text": "a"})]
    assert opened == []


async def test_in_shadow_mode_everything_runs_and_is_recorded(
    driver: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hooks judge, the trail says what they would have done, and nothing changes."""
    monkeypatch.chdir(tmp_path)
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    shadow = BUNDLE.replace("AUDIT", str(tmp_path / "audit")) + "session: {evaluate_only: true}\n"
    (tmp_path / "amplifier.yaml").write_text(shadow)
    (tmp_path / "guard.py").write_text(GUARD)
    async with govern("amplifier.yaml") as hooks:
        ran = await driver.run(hooks, use(call("wipe", path="/tmp/x")))
    assert ran.calls == [("wipe", {"path": "/tmp/x"})]
    (log,) = [one for one in (tmp_path / "audit").iterdir() if one.is_dir()]
    assert "shadowed" in read_types(log)


async def test_a_coordinator_made_by_hand(driver: Driver, stage: Stage) -> None:
    """Runs take part in a session that its owner ends."""
    audit = MemoryAudit()
    coordinator = SessionCoordinator(stage.registry, audit=audit, session_id="mine")
    stage.answer("tool:pre", HookResult(action="deny", reason="by hand"), tool="wipe")
    ran = await driver.run(govern(coordinator), use(call("wipe", path="/")))
    assert ran.calls == []
    assert "by hand" in ran.requests[-1]
    assert {one["session"] for one in audit.records} == {"mine"}
    assert not audit.of_type("session_ended")


async def test_a_conversation_is_one_session(driver: Driver, stage: Stage) -> None:
    """Runs inside `conversation()` are turns of one session, which ends with the block."""
    stage.listen("session:start", "prompt:submit", "session:end")
    hooks = stage.hooks
    async with hooks.conversation():
        await driver.run(hooks, [DONE], "One.")
        await driver.run(hooks, [DONE], "Two.")
        assert "session:end" not in stage.heard.names
    wanted = ["session:start", "prompt:submit", "prompt:submit", "session:end"]
    heard = [one for one in wanted if one != "prompt:submit" or one in driver.coverage.events]
    assert stage.heard.names == heard


async def test_a_session_ends_when_the_run_is_cancelled(driver: Driver, stage: Stage) -> None:
    """A run that somebody stops leaves no session open."""
    asked = asyncio.Event()
    loop = asyncio.get_running_loop()

    async def think(_: object) -> str:
        loop.call_soon_threadsafe(asked.set)
        await asyncio.Event().wait()
        return "Deny"

    stage.answer("tool:pre", ask(), tool="wipe")
    stage.listen("session:end")
    stage.ask_person(think)
    hooks = stage.hooks
    waiting = asyncio.create_task(driver.run(hooks, use(call("wipe", path="/"))))
    await asyncio.wait_for(asked.wait(), 60)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await hooks.close("user_exit")  # for frameworks that do not tell of it
    assert stage.heard.names == ["session:end"]


async def test_hooks_that_cannot_be_called_are_told(driver: Driver, stage: Stage) -> None:
    """A hook for an event that the framework does not show is named on the screen."""
    judged = (
        "prompt:submit",
        "prompt:answer",
        "provider:request",
        "provider:response",
        "tool:pre",
        "tool:post",
    )
    for event in judged:
        stage.answer(event, HookResult(), name=f"for {event}")
    await driver.run(stage.hooks, use(call("note", text="a")))
    missing = {one for one in judged if one not in driver.coverage.events}
    told = "".join(text for text, _, _ in stage.display.messages if "does not show" in text)
    assert {event for event in judged if f"{event} (" in told} == missing
