"""What the sandbox costs: `Bash true` through the tool, with the wall and as a plain child."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from amplifier_core.testing import TestCoordinator
from amplifier_hooks.agent.session.capabilities import SessionWall
from amplifier_hooks.agent.tools import bash
from amplifier_hooks.guards.policy.protected_places import list_places
from amplifier_hooks.modules.options import parse_config
from amplifier_hooks.sandbox.process import run_command
from benchmarks.harness import Row, compare, loop_of, report

ROUNDS = 300


def plain(folder: Path) -> Callable[[], Awaitable[object]]:
    """The floor: the tool as it was, with a child of this process in a group of its own."""
    tool = bash.Bash(TestCoordinator(), bash.BashConfig())

    async def once() -> object:
        given: bash.BashInput = parse_config(bash.BashInput, {"command": "true"}, "Bash")
        env = tool._build_environment()
        outcome = await run_command(given.command, cwd=folder, env=env, output_limit=30_000)
        return bash._build_result(outcome, 120, None)

    return once


def through_tool(folder: Path, section: dict[str, str] | None) -> Callable[[], Awaitable[object]]:
    """The tool in a session whose bundle has this `sandbox` section."""
    host = TestCoordinator()
    host.register_capability("session.working_dir", str(folder))
    wall = SessionWall.open(section, [folder], list_places([folder]))
    host.register_capability("session.wall", wall)
    asyncio.run(bash.mount(host, None))
    tool = host.get("tools")["Bash"]

    async def once() -> object:
        return await tool.execute({"command": "true"})

    return once


def main() -> None:
    """Measure and report."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        walled = through_tool(folder, None)
        rows: list[Row] = [
            compare(
                "Bash true, sandbox off (no descendant stays)",
                loop_of(plain(folder)),
                loop_of(through_tool(folder, {"mode": "off"})),
                rounds=ROUNDS,
            ),
            compare(
                "Bash true, sandbox on, against off",
                loop_of(through_tool(folder, {"mode": "off"})),
                loop_of(walled),
                at_most=1.15,
                rounds=ROUNDS,
            ),
            compare(
                "Bash true, sandbox on, against a plain child",
                loop_of(plain(folder)),
                loop_of(walled),
                at_most=1.15,
                rounds=ROUNDS,
            ),
        ]
    report("A command in the sandbox", rows)


if __name__ == "__main__":
    main()
