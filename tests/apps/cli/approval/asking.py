"""A program that asks questions on its terminal, for the tests in a real pseudo-terminal.

    python -m tests.apps.cli.approval.asking '{"questions": [{...}], "line_after": true}'

Prints one JSON line per answer, and the next line that was typed if asked to.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
import time
from pathlib import Path
from typing import Any

from amplifier_apps.cli.approval.terminal_approval import TerminalApproval
from amplifier_core.approval import ApprovalQuestion, ApprovalTimeout


def say(**facts: Any) -> None:
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


async def ask(approval: TerminalApproval, spec: dict[str, Any]) -> None:
    question = ApprovalQuestion(
        **{
            "timeout": 30,
            "default": "deny",
            "hook": "test-guard",
            **spec,
            "options": tuple(spec["options"]),
        }
    )
    try:
        answer = await approval.decide(question)
    except ApprovalTimeout as error:
        say(timeout=str(error))
    else:
        say(option=answer.option, comment=answer.comment, by=answer.by)


async def count(ticks: list[float]) -> None:
    """Proof that the event loop goes on while the question stands."""
    while True:
        ticks.append(time.monotonic())
        await asyncio.sleep(0.05)


async def main(plan: dict[str, Any]) -> None:
    for spec in plan["questions"]:
        if "times" in plan:  # more than fits into an argument
            spec["tool_input"]["command"] *= plan["times"]
    approval = TerminalApproval(base=Path(plan.get("base", ".")))
    ticks: list[float] = []
    ticking = asyncio.create_task(count(ticks))
    await asyncio.sleep(plan.get("busy_first", 0))
    if plan.get("together"):
        await asyncio.gather(*(ask(approval, spec) for spec in plan["questions"]))
    else:
        for spec in plan["questions"]:
            await ask(approval, spec)
    ticking.cancel()
    pauses = [later - earlier for earlier, later in itertools.pairwise(ticks)]
    say(longest_pause=max(pauses, default=0))


if __name__ == "__main__":
    plan = json.loads(sys.argv[1])
    asyncio.run(main(plan))
    if plan.get("line_after"):
        say(typed_after=sys.stdin.readline())
