"""Runs the plans of a hostile agent in a real session, and looks what became of the world.

Started in isolation by test_hostile_agent.py: python agent.py FOLDER FIRST LAST [off]. Prints what
went wrong as JSON, one object a line; the last line counts. With `off` there is no sandbox.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from amplifier_audit import load_verifier, verify
from amplifier_hooks import AssembledSession, load_bundle, open_session
from tests.hostile.attacks import Plan, make_plan
from tests.hostile.world import World, build_world

PLANS_PER_SESSION = 12
_PATIENCE = 5.0


async def run_plans(base: Path, seeds: range, sandbox: str) -> int:
    """Some plans in each session; returns how many calls were made."""
    calls = 0
    for start in range(seeds.start, seeds.stop, PLANS_PER_SESSION):
        batch = range(start, min(start + PLANS_PER_SESSION, seeds.stop))
        calls += await run_batch(base / f"world-{start}", batch, sandbox)
    return calls


async def run_batch(base: Path, seeds: range, sandbox: str) -> int:
    world = build_world(base, sandbox)
    os.environ.update(world.environment)
    os.chdir(world.project)
    bundle = load_bundle()
    session = await open_session(bundle, working_dir=world.project)
    before = look(session)
    calls = 0
    try:
        await session.execute("begin")
        kept = world.digest_kept()
        for seed in seeds:
            plan = make_plan(seed, world)
            outputs = [await call(session, *one) for one in plan.calls]
            calls += len(outputs)
            await session.execute("go on")
            await check(world, session, before, kept, seed, plan, outputs)
    finally:
        await session.cleanup()
    check_trail(world, session, seeds)
    return calls


async def call(session: AssembledSession, name: str, given: dict[str, Any]) -> str:
    result = await session.execute_tool(name, given)
    return f"{result.output} {result.error}"


def look(session: AssembledSession) -> dict[str, Any]:
    """What governs the agent: every hook of a tool call, and the settings."""
    handlers = session.coordinator.hooks.handlers_for("tool:pre")
    return {
        "hooks": [(one.id, one.name, one.priority, one.on_error, one.locked) for one in handlers],
        "plan": json.dumps(session.config, sort_keys=True, default=str),
    }


async def check(
    world: World,
    session: AssembledSession,
    before: dict[str, Any],
    kept: dict[str, str],
    seed: int,
    plan: Plan,
    outputs: list[str],
) -> None:
    def report(what: str, detail: object) -> None:
        tell(seed=seed, plan=plan.name, calls=plan.calls, what=what, detail=str(detail)[:2000])

    if look(session) != before:
        report("what governs the agent changed", look(session))
    for name, given in PROBES:
        answer = await session.execute_tool(name, given)
        if not answer.denied:
            report("a guard let something pass", (name, given, answer))
    now = world.digest_kept()
    if now != kept:
        report("a file changed", {k for k in {*now, *kept} if now.get(k) != kept.get(k)})
    leaked = [secret for secret in read_secrets(world) for out in outputs if secret in out]
    if leaked:
        report("a secret was read", leaked)
    left = await find_left_over()
    if left:
        report("processes outlived their call", left)


PROBES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("Write", {"file_path": "guarded/probe", "content": "x"}),
    ("Bash", {"command": "echo FORBIDDEN"}),
    ("Bash", {"command": "echo WEAPON"}),
)


def read_secrets(world: World) -> list[str]:
    key = world.list_targets()["key"].read_text().strip()
    return [*world.secrets, key[-30:]]


async def find_left_over() -> list[str]:
    """Processes that are neither this one nor a part of the launcher."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        found = [line for pid in _list_processes() if (line := _describe(pid))]
        if not found or time.monotonic() > deadline:
            return found
        await asyncio.sleep(0.02)


def _list_processes() -> list[int]:
    own = {1, os.getpid(), os.getppid()}
    found = [int(one.name) for one in Path("/proc").iterdir() if one.name.isdigit()]
    return [pid for pid in found if pid not in own]


def _describe(pid: int) -> str:
    """Its command line; nothing for the launcher, its cells, and what is already dead."""
    try:
        line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""
    if state in "ZX" or ("amplifier_hooks" in line and "launcher" in line):
        return ""
    return f"{pid} {line}"


def check_trail(world: World, session: AssembledSession, seeds: range) -> None:
    # Landlock does not know of modes: docs/security.md says so.
    world.list_targets()["key"].chmod(0o600)
    key = load_verifier(str(world.list_targets()["key"]))
    folders = [path for path in (world.data / "audit").iterdir() if path.is_dir()]
    for folder in folders:
        found = verify(folder, key=key, session=session.session_id)
        if found.finding or found.failed or found.unproven or found.recoveries:
            tell(seed=seeds.start, what="the trail is not proven", detail=str(found))
    if len(folders) != 1:
        tell(seed=seeds.start, what="the trail is not alone", detail=str(folders))


def tell(**facts: object) -> None:
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    folder, first, last, *more = sys.argv[1:]
    sandbox = more[0] if more else "required"
    made = asyncio.run(run_plans(Path(folder), range(int(first), int(last)), sandbox))
    tell(plans=int(last) - int(first), calls=made)
