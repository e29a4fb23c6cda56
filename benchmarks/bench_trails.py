"""Questions about long trails, and about many, against json.loads of the same lines.

Processor time, because other programs do not count in it. A million records take json.loads about
5 s: a question of 6 s takes 1.2 times as long, a writer of 40,000 records a second 5 times.

show, stats   of one trail; how time and memory grow from a trail to one ten times as long
report        of many short trails, each of which is verified as well
write         append and commit with the default durability, both threads
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import io
import json
import random
import tempfile
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import process_time
from typing import Any

from amplifier_audit import AuditLog
from amplifier_audit.log_directory import open_readable
from amplifier_audit.reader import read_whole_lines
from amplifier_hooks.cli.main import main as run_command
from amplifier_hooks.insight.reports import Evidence, ReportRequest, read_report, render_report
from benchmarks.harness import Row, report

SHORT = 4_000
LONG = 10 * SHORT
SESSIONS = 40
ROUNDS = 4
AT_ONCE = 5_000
GUARDS = [f"hooks-guard-{number}" for number in range(8)]
WORDS = (
    "the",
    "a",
    "file",
    "hook",
    "parser",
    "was",
    "told",
    "next",
    "needs",
    "yes",
    "config",
    "of",
)

Record = tuple[str, dict[str, Any], str | None]


def make_event(chance: random.Random, event: str, hooks: int, data: dict[str, Any]) -> Record:
    """An event that so many hooks let pass."""
    answers = [
        {"hook": name, "id": at, "action": "continue", "ms": round(chance.lognormvariate(-3, 1), 3)}
        for at, name in enumerate(GUARDS[:hooks])
    ]
    return "dispatch", {"action": "continue", "hooks": answers, "data": data}, event


def make_turn(chance: random.Random, turn: int) -> Iterator[Record]:
    """A prompt, a streamed answer, a call, its result; every tenth call is denied."""
    call = {"tool_name": "Read", "tool_input": {"file_path": f"src/part{turn}.py"}}
    named = {**call, "tool_call_id": f"call_{turn}"}
    yield make_event(chance, "prompt:submit", 5, {"prompt": " ".join(chance.choices(WORDS, k=12))})
    yield make_event(chance, "provider:request", 5, {"provider": "x", "iteration": turn})
    for _ in range(24):
        text = {"parent_id": None, "block_index": 0, "delta": f" {chance.choice(WORDS)}"}
        yield make_event(chance, "content_block:delta", 2, text)
    yield make_event(chance, "content_block:end", 2, {"block_index": 0, "block_type": "text"})
    kind, body, event = make_event(chance, "tool:pre", 8, named)
    if turn % 10 == 0:
        denial = {"hook": "guard", "id": 9, "action": "deny", "ms": 0.02, "reason": "not now"}
        yield kind, {**body, "action": "deny", "hooks": [*body["hooks"], denial]}, event
    else:
        yield kind, body, event
        about = {"tool": "Read", "id": f"call_{turn}", "digest": f"{turn:064x}"}
        yield "tool_started", {**about, "gated": False}, "tool:pre"
        yield (
            "tool_finished",
            {**about, "outcome": "returned", "success": True, "ms": 3},
            "tool:pre",
        )
        result = {"success": True, "output": "a line\n" * 40}
        yield make_event(chance, "tool:post", 5, {**named, "tool_result": result})
    final = {"status": "success", "final_message": {"role": "assistant", "content": "done"}}
    yield make_event(chance, "orchestrator:complete", 1, final)


def make_records(count: int) -> list[tuple[int, Record]]:
    """So many records, or a few more, each with its turn."""
    chance = random.Random(count)
    made: list[tuple[int, Record]] = []
    turn = 0
    while len(made) < count:
        turn += 1
        made += [(turn, one) for one in make_turn(chance, turn)]
    return made


async def write_trail(path: Path, records: list[tuple[int, Record]]) -> None:
    """A trail of these records, with the default settings."""
    log = await AuditLog.open(path)
    for number, (turn, (kind, body, event)) in enumerate(records):
        log.append(kind, body, session=path.name, turn=turn, event=event)
        if number % AT_ONCE == 0:
            await log.commit()
    await log.close()


def ask(*words: str) -> Callable[[Path], None]:
    """A command about a trail, whose output nobody sees."""

    def run(path: Path) -> None:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
            run_command(["audit", words[0], str(path), *words[1:]])

    return run


def parse(*paths: Path) -> None:
    """json.loads of each line."""
    for path in paths:
        for line in read_whole_lines(open_readable(path)):
            json.loads(line)


def measure(*works: Callable[[], object]) -> list[float]:
    """The processor time of each, the best of some rounds in turns."""
    best = [float("inf")] * len(works)
    for _ in range(ROUNDS):
        for at, work in enumerate(works):
            gc.collect()
            started = process_time()
            work()
            best[at] = min(best[at], process_time() - started)
    return best


def compare(
    what: str, at_most: float, base: Callable[[], object], work: Callable[[], object]
) -> Row:
    """One against the other."""
    least, cost = measure(base, work)
    return Row(what, cost / least, at_most, least * 1e6, cost * 1e6)


def measure_peak(work: Callable[[], object]) -> int:
    """The most bytes that were held at a time."""
    work()
    gc.collect()
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def list_figures(words: Sequence[str], short: Path, long: Path) -> Iterator[Row]:
    """What a question costs, and how that grows with a trail."""
    question = ask(*words)
    name = f"audit {' '.join(words)}"
    yield compare(f"{name} / json.loads", 1.2, lambda: parse(long), lambda: question(long))
    few, many = measure(lambda: question(short), lambda: question(long))
    what = f"{name}: time, ten times the records / 10"
    yield Row(what, many / few / 10, 1.2, few * 1e6, many * 1e6)
    least = measure_peak(lambda: question(short))
    most = measure_peak(lambda: question(long))
    yield Row(f"{name}: memory, ten times the records", most / least, 1.5, least, most)


def rows(folder: Path) -> list[Row]:
    """The table."""
    made = make_records(LONG)
    short, long = folder / "short", folder / "long"
    asyncio.run(write_trail(short, made[:SHORT]))
    asyncio.run(write_trail(long, made))
    trails = [folder / f"session-{number}" for number in range(SESSIONS)]
    for number, trail in enumerate(trails):
        asyncio.run(write_trail(trail, made[number * 200 : number * 200 + 200]))
    fresh = iter(range(1_000))
    request = ReportRequest(trails, evidence=Evidence())
    return [
        *list_figures(("show", "--action", "deny"), short, long),
        *list_figures(("stats",), short, long),
        compare(
            f"report over {SESSIONS} sessions / json.loads",
            8,
            lambda: parse(*trails),
            lambda: render_report(read_report(request), "html"),
        ),
        compare(
            "write, default durability / json.loads",
            5,
            lambda: parse(long),
            lambda: asyncio.run(write_trail(folder / f"fresh-{next(fresh)}", made)),
        ),
    ]


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        report("trails", rows(Path(folder)))


if __name__ == "__main__":
    main()
