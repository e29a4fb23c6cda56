"""What rules cost an event: none by tool name, and one that applies, beside a bare handler."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from typing import Any

from amplifier_core.models import HookResult
from amplifier_core.testing import TestCoordinator
from amplifier_hooks.guards.rules import mount
from benchmarks.harness import ROUNDS, Row, compare, loop_of, report

OTHER = {"tool_name": "Read", "tool_input": {"file_path": "README.md"}}
BASH = {"tool_name": "Bash", "tool_input": {"command": "git push --force"}}


def rules(count: int) -> list[dict[str, Any]]:
    """Rules of every action, each about one tool."""
    actions: list[dict[str, Any]] = [
        {"action": "deny", "reason": "no", "command": "git push --force"},
        {"action": "ask_user", "approval_prompt": "Sure?", "regex": "secret"},
        {"action": "modify", "data": {"tool_input": {"timeout": 5}}, "when": "has(tool_input.x)"},
        {"action": "inject_context", "context_injection": "Mind.", "regex": "nothing"},
    ]
    tools = ["Bash", "Write", "Edit", "mcp__git__*"]
    return [
        {"name": f"rule-{n}", "tool": tools[n % 4], **actions[n // 4 % 4]} for n in range(count)
    ]


def emitting(count: int, data: dict[str, Any]) -> Callable[[], Awaitable[HookResult]]:
    """An emit on a registry with so many rules; with none, on one with a bare handler."""
    host = TestCoordinator()
    host.register_capability("session.working_dir", tempfile.gettempdir())
    if count:
        asyncio.run(mount(host, {"rules": rules(count)}))
    else:
        host.hooks.register("tool:pre", _bare)
    return lambda: host.hooks.emit("tool:pre", data)


async def _bare(event: str, data: dict[str, Any]) -> HookResult:
    return HookResult(action="continue")


def row(what: str, count: int, data: dict[str, Any], rounds: int = ROUNDS) -> Row:
    """The cost of an event with rules, beside one with a bare handler."""
    return compare(what, loop_of(emitting(0, data)), loop_of(emitting(count, data)), rounds=rounds)


def main() -> None:
    rows = [
        row("1,000 rules, none for the tool", 1_000, OTHER),
        row("10 rules, none for the tool", 10, OTHER),
        row("10 rules, one denies", 10, BASH),
    ]
    report("rules", rows)
    for measured in rows:
        print(f"{measured.what}: {measured.subject_us - measured.baseline_us:.1f} µs per event")


if __name__ == "__main__":
    main()
