"""Agents of others behind our hooks, through the real command and the real process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from amplifier_hooks.coding_agents.daemon.control import read_status
from amplifier_hooks.coding_agents.installing.line import make_guest_command
from tests.hooks.coding_agents.sessions.agents import record
from tests.support.guest_world import World, make_world, write_hook

GUARD = """
from amplifier_core.models import HookResult

async def mount(coordinator, config=None):
    async def judge(event, data):
        if "forbidden" in str(data["tool_input"]):
            return HookResult(action="deny", reason="this is forbidden")
        return HookResult()
    return coordinator.hooks.register("tool:pre", judge, name="guard", on_error="deny")
"""
CALLS = 50


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """A machine with one guard."""
    with make_world(tmp_path, monkeypatch, GUARD) as found:
        yield found


def _is_denied(done: subprocess.CompletedProcess[bytes]) -> bool:
    if done.returncode == 2:
        return True
    assert done.returncode == 0, done
    answer = json.loads(done.stdout) if done.stdout.strip() else {}
    return bool(answer.get("hookSpecificOutput", {}).get("permissionDecision") == "deny")


def test_nothing_is_unjudged_when_the_process_is_killed(world: World) -> None:
    """Two agents in one folder, fifty calls at once, and the process killed in the middle."""
    for agent in ("claude", "codex"):
        assert world.call(agent, "SessionStart", session_id="s").returncode == 0
    status = read_status(world.folder)
    assert status is not None
    answered, lock = [0], threading.Lock()

    def call(number: int) -> tuple[str, subprocess.CompletedProcess[bytes]]:
        command = "echo forbidden" if number % 3 == 0 else "echo fine"
        done = world.call(
            ("claude", "codex")[number % 2],
            "PreToolUse",
            session_id="s",
            tool_use_id=f"call-{number}",
            tool_input={"command": command},
        )
        with lock:
            answered[0] += 1
            if answered[0] == CALLS // 5:
                os.kill(status["pid"], signal.SIGKILL)
        return command, done

    with ThreadPoolExecutor(12) as pool:
        results = list(pool.map(call, range(CALLS)))
    for command, done in results:
        assert _is_denied(done) is ("forbidden" in command), (command, done)
    after = read_status(world.folder)
    assert after is not None
    assert after["pid"] != status["pid"]
    for agent in ("claude", "codex"):
        world.call(agent, "SessionEnd", session_id="s")
    records = [*world.read_trail("claude-s"), *world.read_trail("codex-s")]
    # Each call is in the trail: as allowed and started, or as denied.
    started = {one["body"].get("id") for one in records if one["type"] == "tool_started"}
    told = json.dumps(records)
    for number in range(CALLS):
        assert (f"call-{number}" in started) is (number % 3 != 0)
        assert f'"call-{number}"' in told
    ends = [one for one in records if one["type"] == "session_ended"]
    assert len(ends) == 2


def test_a_guard_that_hangs_denies_before_the_agent_gives_up(world: World) -> None:
    """Our own deadline is the shorter one, and the sentence says what happened."""
    hangs = GUARD.replace(
        'if "forbidden"', 'import asyncio; await asyncio.sleep(600)\n        if "forbidden"'
    )
    write_hook(world.project, hangs)
    line = make_guest_command(world.folder).build_line("claude", "PreToolUse", 3, gate=True)
    payload = json.dumps(record("claude", "PreToolUse", cwd=str(world.project))).encode()
    done = subprocess.run(
        ["/bin/sh", "-c", line], input=payload, capture_output=True, timeout=60, check=False
    )
    assert _is_denied(done)
    assert done.stdout or b"amplifier" in done.stderr


def test_without_the_process_nothing_passes(world: World) -> None:
    """A process that cannot start denies at once, and says why."""
    launch = json.loads((world.folder / "launch.json").read_text())
    launch["argv"] = [launch["argv"][0], "-c", "raise SystemExit('no such module')"]
    (world.folder / "launch.json").write_text(json.dumps(launch))
    done = world.call("claude", "PreToolUse")
    assert done.returncode == 2
    assert b"no such module" in done.stderr
