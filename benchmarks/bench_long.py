"""Long sessions and many of them: whether a turn stays as cheap as the first, and the memory."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import tempfile
from collections.abc import Awaitable, Callable
from itertools import cycle
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter, process_time
from typing import Any

from amplifier_audit import AuditLog
from amplifier_core.message_models import ChatRequest, ChatResponse, ToolCall
from amplifier_core.session import AmplifierSession
from amplifier_hooks import load_bundle
from amplifier_hooks import open_session as open_bundle
from benchmarks.bench_session import ANSWERS, Echo, InstantModel, hook
from benchmarks.harness import Row, report

TURNS = 10_000
COMPARED = 100
SESSIONS = 2_000
MOST_KB = 40.0

Plan = dict[str, Any]
Then = Callable[[AmplifierSession], Awaitable[object]]

PLAN: Plan = {"session": {"orchestrator": "loop-basic", "context": "context-simple"}}
SMALL = {"module": "context-simple", "config": {"max_tokens": 5_000}}
COMPACTING: Plan = {"session": {"orchestrator": "loop-basic", "context": SMALL}}


async def open_session(
    plan: Plan = PLAN, events: tuple[str, ...] = ("tool:pre",), audit: Any = None
) -> AmplifierSession:
    """A session with a model, a tool, and a hook on each of the events."""
    session = AmplifierSession(plan, audit=audit)
    await session.initialize()
    await session.coordinator.mount("providers", InstantModel())
    await session.coordinator.mount("tools", Echo())
    for event in events:
        session.coordinator.hooks.register(event, hook, name="looks-on")
    return session


# Turns


async def do_nothing(session: AmplifierSession) -> None:
    """What happens after a turn of which nothing is kept."""


async def time_turn(session: AmplifierSession, then: Then = do_nothing) -> float:
    """The seconds of one turn, with what is done after it."""
    start = perf_counter()
    await session.execute("go")
    await then(session)
    return perf_counter() - start


async def compare_ends(
    what: str,
    turns: int = TURNS,
    at_most: float | None = 1.2,
    then: Then = do_nothing,
    **options: Any,
) -> Row:
    """The last turns of a conversation against the first ones of another, turn by turn.

    So both meet whatever else the machine does.
    """
    old, young = await open_session(**options), await open_session(**options)
    for _ in range(turns - COMPARED):
        await time_turn(old, then)
    first, last = [], []
    for _ in range(COMPARED):
        first.append(await time_turn(young, then))
        last.append(await time_turn(old, then))
    await old.cleanup()
    await young.cleanup()
    base, cost = median(first), median(last)
    return Row(what, cost / base, at_most, base * 1e6, cost * 1e6)


async def compare_audited(what: str) -> Row:
    """The same with the trail on."""
    with tempfile.TemporaryDirectory() as folder:
        audit = AuditLog(Path(folder))
        row = await compare_ends(what, audit=audit)
        await audit.close()
    return row


async def measure_turns() -> list[Row]:
    """A conversation of so many turns, in the ways that it may be led."""
    hooked = ("tool:pre", "provider:request")
    with tempfile.TemporaryDirectory() as folder:
        bundled = await measure_bundle(Path(folder))
    return [
        bundled,
        await compare_ends(f"a turn after {TURNS:,}, against the first ones"),
        await compare_audited(f"a turn after {TURNS:,}, audited"),
        await compare_ends(f"a turn after {TURNS:,}, the context compacting", plan=COMPACTING),
        await compare_ends("a turn after 500, provider:request hooked", 500, 1.3, events=hooked),
        # A state is all of the conversation, so it grows with it.
        await compare_ends(
            "a turn after 500, with its state read", 500, None, AmplifierSession.state
        ),
    ]


class Reader:
    """A model that reads another file in each turn, and then says that it is done."""

    name = "reader"
    model = "reader"

    def __init__(self, folder: Path) -> None:
        self._files = cycle(sorted(folder.glob("*.txt")))

    async def complete(self, request: ChatRequest, **_: Any) -> ChatResponse:
        if request.messages[-1].role == "tool":
            return ANSWERS
        path = next(self._files)
        call = ToolCall(id=path.stem, name="Read", arguments={"file_path": str(path)})
        return ChatResponse(tool_calls=[call], content=[])

    def parse_tool_calls(self, response: ChatResponse) -> list[ToolCall]:
        return response.tool_calls or []


READS = 400
OF_READER = """\
name: reading
session:
  orchestrator: {module: loop-streaming, config: {provider: reader}}
audit: {path: trail}
"""


async def measure_bundle(folder: Path) -> Row:
    """The default bundle with its trail: turns around the 400th against turns around the 30th."""
    chance = Random(1)
    for number in range(READS):
        words = ("".join(chance.choices("abcdefgh", k=7)) for _ in range(512))
        (folder / f"{number:04}.txt").write_text(" ".join(words), encoding="utf-8")
    (folder / "amplifier.yaml").write_text(OF_READER, encoding="utf-8")
    times = []
    bundle = load_bundle(folder / "amplifier.yaml")
    async with await open_bundle(bundle, working_dir=folder) as opened:
        await opened.coordinator.mount("providers", Reader(folder), name="reader")
        for _ in range(READS):
            start = process_time()
            await opened.execute("go on")
            times.append(process_time() - start)
    base, cost = median(times[20:40]), median(times[-20:])
    what = f"default bundle, a file of 4 KB a turn: turn {READS} against turn 30, CPU"
    return Row(what, cost / base, 1.3, base * 1e6, cost * 1e6)


# Memory


def read_memory() -> float:
    """The kilobytes that this process has in memory, without what could be collected."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1024


async def use_session(turns: int) -> AmplifierSession:
    """A session that has taken so many prompts."""
    session = await open_session()
    for _ in range(turns):
        await session.execute("go")
    return session


async def open_many(kept: list[AmplifierSession], turns: int) -> float:
    """The kilobytes that each of many idle sessions takes."""
    kept += [await use_session(turns) for _ in range(COMPARED)]
    before = read_memory()
    kept += [await use_session(turns) for _ in range(SESSIONS)]
    return (read_memory() - before) / SESSIONS


async def close_many() -> float:
    """The kilobytes that each of many sessions leaves behind, used and closed one by one."""
    for _ in range(COMPARED):
        await (await use_session(1)).cleanup()
    before = read_memory()
    for _ in range(SESSIONS):
        await (await use_session(1)).cleanup()
    return max((read_memory() - before) / SESSIONS, 0.0)


async def measure_memory() -> list[Row]:
    """Closed sessions, and idle ones that are all kept: freed memory would be used again."""
    kept: list[AmplifierSession] = []
    left, fresh, used = await close_many(), await open_many(kept, 0), await open_many(kept, 1)
    what = f"one of {SESSIONS:,}"
    return [
        Row(f"{what} idle sessions, of 40 KB: fresh", fresh / MOST_KB, 1.0, 0.0, 0.0),
        Row(f"{what} idle sessions, of 40 KB: after a turn", used / MOST_KB, 1.0, 0.0, 0.0),
        Row(f"{what} closed sessions, of 1 KB", left, 1.0, 0.0, 0.0),
    ]


def main() -> None:
    """Measure and report."""
    logging.disable(logging.WARNING)
    memory = asyncio.run(measure_memory())
    report("A long session: the last turns against the first", asyncio.run(measure_turns()))
    report("Many sessions: kilobytes of each, of what it may take", memory)


if __name__ == "__main__":
    main()
