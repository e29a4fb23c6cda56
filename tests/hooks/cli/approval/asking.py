"""A program that asks questions on its terminal, for the tests in a real pseudo-terminal.

    python -m tests.hooks.cli.approval.asking '{"questions": [{...}], "line_after": true}'

Prints one JSON line per answer, one about the event loop, and the next line that was typed if
asked to.
"""

from __future__ import annotations

import asyncio
import fcntl
import itertools
import json
import signal
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from amplifier_core.approval import ApprovalQuestion, ApprovalTimeout
from amplifier_hooks.cli.approval.terminal_approval import TerminalApproval, read_boot_clock


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
        edited = {"edited": answer.edited_input} if answer.edited_input is not None else {}
        say(option=answer.option, comment=answer.comment, by=answer.by, **edited)


async def count(ticks: list[float]) -> None:
    """How much the loop's thread has worked so far, while the question stands."""
    while True:
        ticks.append(time.thread_time())
        await asyncio.sleep(0.05)


def count_typed() -> int:
    """The bytes that wait in the terminal."""
    return int.from_bytes(fcntl.ioctl(sys.stdin, termios.FIONREAD, bytes(4)), sys.byteorder)


def make_clock(plan: dict[str, Any]) -> Callable[[], float]:
    """The clock of the time limits; a signal puts it forward."""
    ahead: list[float] = []
    signal.signal(signal.SIGUSR1, lambda *_: ahead.append(plan.get("jump", 0)))
    return lambda: read_boot_clock() + sum(ahead)


async def main(plan: dict[str, Any]) -> None:
    for spec in plan["questions"]:
        if "times" in plan:  # more than fits into an argument
            spec["tool_input"]["command"] *= plan["times"]
    approval = TerminalApproval(
        base=Path(plan.get("base", ".")), clock=make_clock(plan), settling=plan.get("settling", 0.0)
    )
    ticks: list[float] = []
    ticking = asyncio.create_task(count(ticks))
    while "typed_first" in plan and count_typed() < plan["typed_first"]:
        await asyncio.sleep(0.01)
    if plan.get("together"):
        await asyncio.gather(*(ask(approval, spec) for spec in plan["questions"]))
    else:
        for spec in plan["questions"]:
            await ask(approval, spec)
    ticking.cancel()
    work = [later - earlier for earlier, later in itertools.pairwise(ticks)]
    say(ticks=len(ticks), longest_work=max(work, default=0))


if __name__ == "__main__":
    plan = json.loads(sys.argv[1])
    asyncio.run(main(plan))
    if plan.get("line_after"):
        say(typed_after=sys.stdin.readline())
