"""Backtests against their goal: 100,000 events a minute on one core, 600 µs for each.

of the default bundle   a session of turns, calls and streamed words, before all default hooks
unheard                 streamed words that no hook listens to, before one rule
"""

from __future__ import annotations

import asyncio
import logging
import tempfile
from pathlib import Path
from time import process_time
from typing import Any

from amplifier_audit import AuditLog, AuditSettings
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.mount_plan import MountPlan
from amplifier_core.mounting import Mounting
from amplifier_core.records import Other
from amplifier_hooks.insight.backtest import Policy, PolicySource, backtest_trails, load_policy
from benchmarks.harness import Row, report

GOAL = 60 / 100_000
TURNS = 100
ROUNDS = 3
COMMANDS = ("ls -la", "git status", "cat src/main.py | head -50", "rm -rf build/x", "pytest -q")
RULE = "- {name: no-push, tool: Bash, command: git push, action: deny, reason: not now}\n"


async def record(folder: Path, policy: Policy) -> Path:
    """A session of so many turns, as the hooks of the policy answer it."""
    log = await AuditLog.open(folder / "trail", AuditSettings())
    host = SessionCoordinator(audit=log, session_id="session-1")
    host.trail.write(Other(type="bundle_loaded", members={"folder": str(folder)}))
    host.register_capability("session.working_dir", str(folder))
    mounting = Mounting(host)
    for entry in MountPlan.parse(policy.material.bundle.mount_plan).hooks:
        await mounting.mount("hooks", entry)
    for turn in range(TURNS):
        for event, data in make_turn(turn):
            await host.execute_with_hooks(event, data)
    await mounting.unmount_all()
    await log.close()
    return folder / "trail"


def make_turn(turn: int) -> list[tuple[str, dict[str, Any]]]:
    """A prompt, a streamed answer, two calls with their results."""
    bash = {"tool_name": "Bash", "tool_input": {"command": COMMANDS[turn % len(COMMANDS)]}}
    read = {"tool_name": "Read", "tool_input": {"file_path": f"src/part{turn}.py"}}
    calls = [
        (event, {**call, "tool_call_id": f"{call['tool_name']}-{turn}", **more})
        for call in (bash, read)
        for event, more in (
            ("tool:pre", {}),
            ("tool:post", {"tool_result": {"output": "a line\n" * 20, "success": True}}),
        )
    ]
    words = [("content_block:delta", {"delta": f"word {n}", "index": 0}) for n in range(12)]
    return [
        ("prompt:submit", {"prompt": f"do part {turn}"}),
        ("provider:request", {"provider": "x", "messages": [{"role": "user", "content": "hi"}]}),
        *words,
        ("provider:response", {"response": {"text": "I will"}, "usage": {"input_tokens": 10}}),
        *calls,
    ]


async def measure(what: str, trail: Path, policy: Policy) -> Row:
    """The processor time of an event, the best of some rounds."""
    best, events = float("inf"), 1
    for _ in range(ROUNDS):
        started = process_time()
        async for _path, tally in backtest_trails([trail], policy):
            events = tally.events
        best = min(best, (process_time() - started) / events)
    return Row(what, best / GOAL, 1.0, GOAL * 1e6, best * 1e6)


async def run(folder: Path) -> list[Row]:
    """Both rows."""
    rules = folder / "rules.yaml"
    rules.write_text(RULE)
    default = load_policy(PolicySource(), folder)
    rule = load_policy(PolicySource(rules=(str(rules),), only=True), folder)
    trail = await record(folder, default)
    (folder / "quiet").mkdir()
    quiet = await record(folder / "quiet", rule)
    return [
        await measure("an event before the default bundle, of 600 µs", trail, default),
        await measure("an event before one rule, of 600 µs", quiet, rule),
    ]


def main() -> None:
    logging.disable(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as folder:
        report("backtest", asyncio.run(run(Path(folder))))


if __name__ == "__main__":
    main()
