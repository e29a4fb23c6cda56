"""The governor: the same hooks in front of every run."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from amplifier_core import AmplifierSession, HookRegistry, HookResult
from amplifier_core.errors import SessionDenied
from amplifier_core.models import ToolResult
from amplifier_core.testing import EventRecorder, MemoryAudit, ScriptedApproval, TestCoordinator
from amplifier_hooks import bundle_from_plan
from amplifier_hooks.coverage import ALL, Coverage
from amplifier_hooks.external.calling import Wanted
from amplifier_hooks.external.run import Run
from amplifier_hooks.frameworks import Governor, govern

NOTHING = Coverage("x", "X", "x", "x", "x", {}, ())


class World:
    """A governor whose sessions take a while to start."""

    def __init__(self) -> None:
        self.registry, self.audit, self.started = HookRegistry(), MemoryAudit(), asyncio.Event()
        self.registry.register("session:start", self._wait)
        self.hooks = govern(self.registry, audit=self.audit)

    async def _wait(self, event: str, data: Any) -> HookResult:
        await self.started.wait()
        return HookResult()

    def count(self, kind: str) -> int:
        return len(self.audit.of_type(kind))


async def test_runs_that_begin_at_once_share_one_session() -> None:
    """The others wait until the first has opened it; it ends with the block."""
    world = World()
    async with world.hooks.conversation():
        work = [asyncio.create_task(world.hooks.open(NOTHING)) for _ in range(3)]
        await asyncio.sleep(0)
        world.started.set()
        runs = await asyncio.gather(*work)
        assert len(set(runs)) == 1
        await runs[0].end()
        assert not runs[0].has_ended
    assert (world.count("session_started"), world.count("session_ended")) == (1, 1)


async def test_the_next_opens_it_if_the_first_does_not() -> None:
    """Who is cancelled leaves the others to it."""
    world = World()
    async with world.hooks.conversation():
        first, second = (asyncio.create_task(world.hooks.open(NOTHING)) for _ in range(2))
        await asyncio.sleep(0)
        first.cancel()
        world.started.set()
        run = await second
        assert run.is_shared
        assert await world.hooks.open(NOTHING) is run


async def test_who_stops_waiting_does_not_stop_the_others() -> None:
    """Each of them waits for itself."""
    world = World()
    async with world.hooks.conversation():
        first, second, third = (asyncio.create_task(world.hooks.open(NOTHING)) for _ in range(3))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.sleep(0)
        world.started.set()
        assert await first is await third


async def test_a_refused_start_is_refused_to_all() -> None:
    """Nobody gets a run without a session."""
    registry = HookRegistry()
    registry.register("session:start", EventRecorder(HookResult(action="deny", reason="no")))
    hooks = govern(registry)
    async with hooks.conversation():
        work = (hooks.open(NOTHING) for _ in range(2))
        for found in await asyncio.gather(*work, return_exceptions=True):
            assert isinstance(found, SessionDenied)


@pytest.mark.parametrize("ended", [True, False])
async def test_a_task_that_outlives_the_block_has_sessions_of_its_own(ended: bool) -> None:
    """Its runs end by themselves again."""
    world, left = World(), asyncio.Event()
    world.started.set()

    async def work() -> None:
        await left.wait()
        run = await world.hooks.open(NOTHING)
        assert not run.is_shared
        await run.end()

    async with world.hooks.conversation():
        if ended:
            await world.hooks.open(NOTHING)
        task = asyncio.create_task(work())
    left.set()
    await task
    assert world.count("session_started") == world.count("session_ended")


FULL = Coverage("x", "X", "x", "x", "x", {"tool:pre": ALL, "tool:post": ALL}, ())
PLAN: dict[str, Any] = {
    "session": {"orchestrator": "loop-basic", "context": "context-simple"},
    "providers": [{"module": "provider-scripted", "config": {"script": []}}],
}


def listen(*events: str) -> tuple[HookRegistry, EventRecorder]:
    registry, heard = HookRegistry(), EventRecorder()
    for event in events:
        registry.register(event, heard)
    return registry, heard


def want(handler: Any) -> Wanted:
    return Wanted("note", {}, "1", handler, lambda value: ToolResult(output=value))


def test_whatever_has_hooks_governs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path, a bundle, a registry, a coordinator, a session; and a governor stays what it is."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "amplifier.yaml").write_text("{}\n")
    made = govern(HookRegistry())
    assert govern(made) is made
    sources: list[Any] = [
        tmp_path / "amplifier.yaml",
        str(tmp_path / "amplifier.yaml"),
        bundle_from_plan(PLAN),
        TestCoordinator(),
        AmplifierSession(PLAN),
    ]
    for source in sources:
        assert isinstance(govern(source, folder=tmp_path), Governor)


def test_what_has_no_hooks_is_refused() -> None:
    """The error says what would do."""
    with pytest.raises(TypeError, match="HookRegistry, a coordinator or a session; got dict"):
        govern({})  # type: ignore[arg-type]


async def test_an_agent_in_a_tool_call_is_a_sub_agent() -> None:
    """Its session has the other as its parent, and ends by itself."""
    registry, heard = listen("session:start", "session:end")
    hooks = govern(registry)
    run = await hooks.open(FULL)

    async def delegate(given: dict[str, Any]) -> str:
        inner = await hooks.open(FULL, "helper")
        assert inner.is_child
        await inner.end()
        return str(inner.coordinator.parent_id)

    called = await run.call(want(delegate))
    assert called.value == run.coordinator.session_id
    await run.end()
    assert heard.names == ["session:start", "session:start", "session:end", "session:end"]


def test_a_sub_agent_in_a_thread_stays_with_its_parent() -> None:
    """On the loop that its parent lives on."""
    hooks = govern(HookRegistry())
    run = hooks.open_sync(FULL)

    def delegate(given: dict[str, Any]) -> bool:
        inner = hooks.open_sync(FULL, "helper")
        same = inner.is_child and inner.home is run.home
        inner.end_sync()
        return same

    assert run.call_sync(want(delegate)).value is True
    run.end_sync()


def test_a_conversation_in_a_program_without_a_loop() -> None:
    """One session for two runs."""
    registry, heard = listen("session:start", "session:end")
    hooks = govern(registry)
    with hooks.conversation_sync():
        for _ in range(2):
            run = hooks.open_sync(FULL)
            run.end_sync()
    assert heard.names == ["session:start", "session:end"]
    with hooks.conversation_sync():
        pass
    assert len(heard.names) == 2


async def test_a_block_ends_what_is_open() -> None:
    """With the reason why the block was left."""
    registry, heard = listen("session:end")
    async with govern(registry) as hooks:
        await hooks.open(FULL)

    async def fail() -> None:
        async with govern(registry) as hooks:
            await hooks.open(FULL)
            raise ValueError("x")

    with pytest.raises(ValueError, match="x"):
        await fail()
    assert [data["reason"] for _, data in heard.events] == ["complete", "error"]


def test_a_block_of_a_program_without_a_loop_ends_what_is_open() -> None:
    """The same."""
    registry, heard = listen("session:end")
    with govern(registry) as hooks:
        hooks.open_sync(FULL)
    assert [data["reason"] for _, data in heard.events] == ["complete"]


async def test_a_conversation_is_that_of_its_own_governor() -> None:
    """Another one inside the block has sessions of its own."""
    one, other = govern(HookRegistry()), govern(HookRegistry())
    async with one.conversation():
        first, second = await one.open(FULL), await other.open(FULL)
        assert first.is_shared
        assert not second.is_shared
        await second.end()


async def test_a_run_whose_person_thinks_is_not_idle() -> None:
    """However long ago the last event was."""
    hooks = govern(HookRegistry())
    run, called, go_on = await hooks.open(FULL), asyncio.Event(), asyncio.Event()

    async def wait(given: dict[str, Any]) -> None:
        called.set()
        await go_on.wait()

    task = asyncio.create_task(run.call(want(wait)))
    await called.wait()
    run.session.last_used -= 7 * 86400
    await hooks.end_idle()
    assert not run.has_ended
    go_on.set()
    await task
    await hooks.end_idle()
    assert not run.has_ended
    await run.end()


async def test_what_nobody_uses_any_more_is_ended() -> None:
    """A framework that never tells of an end does not fill the memory."""
    registry, heard = listen("session:end")
    hooks = govern(registry)
    run = await hooks.open(FULL)
    await hooks.end_idle()
    assert not run.has_ended
    run.session.last_used -= 7 * 86400
    await (await hooks.open(FULL)).end()  # which looks around
    assert run.has_ended
    assert heard.events[0][1]["reason"] == "timeout"


def test_a_run_of_a_loop_that_is_gone_can_be_ended() -> None:
    """A program may end its loop first."""
    registry, heard = listen("session:end")
    hooks = govern(registry)
    asyncio.run(hooks.open(FULL))
    hooks.close_sync()
    assert heard.names == ["session:end"]


async def test_a_refused_start_is_raised_or_told() -> None:
    """`open` raises, `begin` says so; both in either form."""
    registry = HookRegistry()
    registry.register("session:start", EventRecorder(HookResult(action="deny", reason="closed")))
    hooks = govern(registry)
    with pytest.raises(SessionDenied, match="closed"):
        await hooks.open(FULL)
    assert "closed" in (await hooks.begin(FULL, "hi"))[1].text
    run, verdict = await asyncio.to_thread(hooks.begin_sync, FULL, "hi")
    assert run is None
    assert "closed" in verdict.text


def test_a_denied_prompt_leaves_no_run_open() -> None:
    """Its session has ended."""
    registry, heard = listen("session:end")
    registry.register("prompt:submit", EventRecorder(HookResult(action="deny", reason="no")))
    run, verdict = govern(registry).begin_sync(FULL, "hi")
    assert run is None
    assert "no" in verdict.text
    assert heard.names == ["session:end"]


OPENINGS = {
    "loop-that-ended": "asyncio.run(hooks.open(seen))",
    "no-loop": "hooks.open_sync(seen)",
    "loop-of-a-daemon-thread": "asyncio.run_coroutine_threadsafe(hooks.open(seen), other).result()",
}


def test_a_program_that_ends_leaves_no_session_open(tmp_path: Path) -> None:
    """The trail on disk has an end, also where the interpreter starts no more threads (3.12)."""
    code = """
import asyncio, threading
from amplifier_hooks.coverage import Coverage
from amplifier_hooks.frameworks import govern
seen = Coverage("x", "X", "x", "x", "x", {}, ())
kept = []
other = asyncio.new_event_loop()
threading.Thread(target=other.run_forever, daemon=True).start()
"""
    for name, opening in OPENINGS.items():
        folder = tmp_path / name
        folder.mkdir()
        bundle = folder / "amplifier.yaml"
        bundle.write_text(f"audit: {{enabled: true, path: {folder / 'audit'}}}")
        code += f"hooks = govern({str(bundle)!r}, folder={str(folder)!r})\n{opening}\n"
        code += "kept.append(hooks)\n"
    env = {"HOME": str(tmp_path), "PATH": "/usr/bin"}
    subprocess.run([sys.executable, "-c", code], check=True, env=env, timeout=60)
    for name in OPENINGS:
        (log,) = [one for one in (tmp_path / name / "audit").iterdir() if one.is_dir()]
        text = "".join(one.read_text() for one in log.rglob("*.jsonl"))
        assert '"session_ended"' in text, name


async def test_records_of_all_runs_are_in_the_given_trail() -> None:
    """Each with the id of its session."""
    audit = MemoryAudit()
    hooks = govern(HookRegistry(), audit=audit)
    for _ in range(2):
        await (await hooks.open(FULL)).end()
    assert len({one["session"] for one in audit.records}) == 2


async def test_a_run_whose_prompt_is_cancelled_is_ended() -> None:
    """Nobody else could: the framework has not got it yet."""
    asked, audit = asyncio.Event(), MemoryAudit()

    async def think(_: Any) -> str:
        asked.set()
        await asyncio.Event().wait()
        return "Allow"

    registry = HookRegistry()
    question = HookResult(action="ask_user", approval_prompt="May it?")
    registry.register("prompt:submit", EventRecorder(question))
    hooks = govern(registry, approval=ScriptedApproval(think), audit=audit)
    task = asyncio.create_task(hooks.begin(FULL, "hi"))
    await asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [one["body"]["reason"] for one in audit.of_type("session_ended")] == ["user_exit"]


def test_a_run_whose_prompt_cannot_be_judged_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever went wrong goes on to the caller."""
    audit = MemoryAudit()

    def fail(*given: Any) -> Any:
        raise OSError("broken")

    monkeypatch.setattr(Run, "submit_sync", fail)
    with pytest.raises(OSError, match="broken"):
        govern(HookRegistry(), audit=audit).begin_sync(FULL, "hi")
    assert [one["body"]["reason"] for one in audit.of_type("session_ended")] == ["error"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
async def test_a_forked_child_leaves_the_runs_of_its_parent_alone() -> None:
    """A tool may use processes: they end, and an agent in one of them is no sub-agent here."""
    registry, heard = listen("session:end")
    hooks = govern(registry)

    def work() -> None:
        run = hooks.open_sync(FULL)
        assert not run.is_child
        run.end_sync()
        assert len(heard.events) == 1

    def start(given: Any) -> int | None:
        process = multiprocessing.get_context("fork").Process(target=work, daemon=True)
        process.start()
        process.join(30)
        code = process.exitcode
        process.kill()
        return code

    run = await hooks.open(FULL)
    assert (await run.call(want(start))).value == 0
    assert not heard.events
    await run.end()
    assert len(heard.events) == 1
