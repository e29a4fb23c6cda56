"""Measures a subject against a baseline: the best of many short, interleaved rounds.

The best round is the one that the rest of the machine disturbed least, and interleaving lets both
sides meet the same disturbances, so the ratio holds on a busy machine where a time would not.

A benchmark file looks like this:

    def main() -> None:
        report("emit", [
            compare("one handler", loop_of(bare), loop_of(emit), at_most=11),
        ])

    if __name__ == "__main__":
        main()
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from time import perf_counter

ROUNDS = 200
ROUND_SECONDS = 0.001

Clock = Callable[[], float]
Body = Callable[[int], Awaitable[None]]
"""Does the measured thing so many times; the loop inside keeps the harness out of the figure."""


@dataclass(frozen=True)
class Row:
    """One line of the table: a ratio, and the goal for it if there is one."""

    what: str
    ratio: float
    at_most: float | None
    baseline_us: float
    subject_us: float

    @property
    def missed(self) -> bool:
        """Whether there is a goal and the measurement is above it."""
        return self.at_most is not None and self.ratio > self.at_most


def loop_of(once: Callable[[], Awaitable[object]]) -> Body:
    """A body that awaits `once()` again and again."""

    async def body(times: int) -> None:
        for _ in range(times):
            await once()

    return body


def calls_of(once: Callable[[], object]) -> Body:
    """A body that calls the plain function `once()` again and again."""

    async def body(times: int) -> None:
        for _ in range(times):
            once()

    return body


def compare(
    what: str,
    baseline: Body,
    subject: Body,
    *,
    at_most: float | None = None,
    rounds: int = ROUNDS,
    seconds: float = ROUND_SECONDS,
    clock: Clock = perf_counter,
) -> Row:
    """The row that says how many times the baseline the subject costs.

    By `time.process_time`, what other threads of the process do counts as well.
    """
    base, cost = asyncio.run(_best_of(baseline, subject, rounds, seconds, clock))
    return Row(what, cost / base, at_most, base * 1e6, cost * 1e6)


def report(title: str, rows: Sequence[Row], argv: Sequence[str] | None = None) -> None:
    """Print the rows as a table, or as one line of JSON when `--json` is among the arguments."""
    if "--json" in (sys.argv[1:] if argv is None else argv):
        print(json.dumps({"title": title, "rows": [asdict(row) for row in rows]}))
        return
    print(table(title, rows))


def table(title: str, rows: Sequence[Row]) -> str:
    """The rows as text; a goal that was missed is marked at the end of its line."""
    width = max([len(row.what) for row in rows] + [len(title)])
    lines = [f"{title:<{width}} | measured ratio | at most"]
    lines.append("-" * width + "-|----------------|--------")
    lines += [_line(row, width) for row in rows]
    missed = sum(row.missed for row in rows)
    goals = sum(row.at_most is not None for row in rows)
    return "\n".join([*lines, f"{goals - missed} of {goals} goals met", ""])


def _line(row: Row, width: int) -> str:
    goal = "" if row.at_most is None else f"{row.at_most:g}"
    mark = "  << MISSED" if row.missed else ""
    return f"{row.what:<{width}} | {row.ratio:>14.2f} | {goal:>7}{mark}"


async def _best_of(
    baseline: Body, subject: Body, rounds: int, seconds: float, clock: Clock
) -> tuple[float, float]:
    sides = [(body, await _count_times(body, seconds, clock)) for body in (baseline, subject)]
    best = [float("inf"), float("inf")]
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            for side, (body, times) in enumerate(sides):
                best[side] = min(best[side], await _seconds(body, times, clock) / times)
    finally:
        gc.enable()
    return best[0], best[1]


async def _count_times(body: Body, seconds: float, clock: Clock) -> int:
    """How often a body goes into a round of so many seconds."""
    times = 1
    while (spent := await _seconds(body, times, clock)) < seconds:
        times = max(times * 2, int(times * seconds / max(spent, 1e-9)))
    return times


async def _seconds(body: Body, times: int, clock: Clock) -> float:
    start = clock()
    await body(times)
    return clock() - start
