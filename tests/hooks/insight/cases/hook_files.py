"""Hook files for the tests of cases, and short ways to run one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from amplifier_hooks.insight.cases.case import Case, Expectation, Step
from amplifier_hooks.insight.cases.running import CaseRun, find_subject, run_case

GUARD = """
from amplifier_core import HookResult
from amplifier_core.interfaces import hook

@hook("tool:pre", on_error="deny")
async def guard(event, data):
    command = data["tool_input"]["command"]
    if command.startswith("rm"):
        return HookResult(action="deny", reason="deleting is for people", user_message="no rm")
    if command.startswith("deploy"):
        return HookResult(action="ask_user", approval_prompt=f"Run {command}?")
    if command.startswith("ls"):
        changed = {**data["tool_input"], "command": command + " -l"}
        return HookResult(action="modify", data={**data, "tool_input": changed})
    if command.startswith("fail"):
        raise LookupError("what a pity")

@hook("prompt:submit")
async def remind(event, data):
    return HookResult(action="inject_context", context_injection="British spelling")
"""
COUNTER = """
from amplifier_core import HookResult

async def mount(coordinator, config):
    calls = 0

    async def count(event, data):
        nonlocal calls
        calls += 1
        if calls > config.get("most", 2):
            return HookResult(action="deny", reason=f"{calls} calls")

    coordinator.hooks.register("tool:pre", count, name="counter")
"""


def write_hook(folder: Path, text: str = GUARD, name: str = "guard.py") -> Path:
    """A hook file in a folder."""
    path = folder / name
    path.write_text(text)
    return path


def run(path: Path, *steps: Step, limit: float = 20.0, **others: Any) -> CaseRun:
    """The run of a case about a hook file."""
    config = others.pop("all_config", None)
    return run_case(Case("it", steps, **others), find_subject(str(path), Path()), config, limit)


def send(command: str, action: str | None = None, **expected: Any) -> Step:
    """A command on its way to Bash, and what is expected of the answer."""
    data = {"tool_input": {"command": command}}
    return Step("tool:pre", data, Expectation(action, **expected))
