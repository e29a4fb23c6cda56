"""What an agent seems to be caught in, and what it is told about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from amplifier_hooks.guards.progress_monitor.calls import Call
from amplifier_hooks.guards.progress_monitor.config import LONGEST_CYCLE, Config, Steps

Kind = Literal["repeats", "cycles", "reads"]


@dataclass(frozen=True, slots=True)
class Concern:
    """What the agent seems to be caught in, and how strongly: 1 gentle, 2 firm, 3 last."""

    kind: Kind
    count: int
    stage: int
    shown: str


def count_repeats(calls: Sequence[Call]) -> int:
    """How often the last call was made in a row."""
    return _count_periods(calls, 1)


def find_cycle(calls: Sequence[Call]) -> tuple[int, int]:
    """The length and the number of rounds of the cycle that the calls end in; (0, 1) if none."""
    sizes = [size for size in range(2, LONGEST_CYCLE + 1) if len(set(calls[-size:])) > 1]
    rounds = [(_count_periods(calls, size), -size) for size in sizes]
    best, size = max(rounds, default=(1, 0))
    return (-size, best) if best > 1 else (0, 1)


def _count_periods(calls: Sequence[Call], size: int) -> int:
    """How many whole times the last `size` calls occur in a row at the end."""
    same = 0
    for at in range(len(calls) - size - 1, -1, -1):
        if calls[at] != calls[at + size]:
            break
        same += 1
    return same // size + 1 if len(calls) >= size else 0


def count_reads(calls: Sequence[Call], reading_tools: frozenset[str]) -> int:
    """How many calls at the end only read."""
    count = 0
    for call in reversed(calls):
        if call.tool not in reading_tools:
            break
        count += 1
    return count


def find_concern(calls: Sequence[Call], config: Config) -> Concern | None:
    """The strongest thing to be worried about, or None."""
    if not calls:
        return None
    size, rounds = find_cycle(calls)
    counts: list[tuple[Kind, int, Steps | tuple[()], str]] = [
        ("repeats", count_repeats(calls), config.repeats, calls[-1].shown),
        ("cycles", rounds, config.cycles, " → ".join(call.shown for call in calls[-size:])),
        ("reads", count_reads(calls, config.reading_tools), config.reads, calls[-1].shown),
    ]
    found = [Concern(kind, n, _find_stage(n, steps), shown) for kind, n, steps, shown in counts]
    return max((one for one in found if one.stage), key=lambda one: one.stage, default=None)


def _find_stage(count: int, steps: Sequence[int]) -> int:
    return sum(count >= step for step in steps)


def describe_concern(concern: Concern) -> str:
    """What the agent does, as half a sentence."""
    if concern.kind == "repeats":
        return f"the same call was made {concern.count} times in a row: {concern.shown}"
    if concern.kind == "cycles":
        return f"the same calls went round {concern.count} times: {concern.shown}"
    return f"the last {concern.count} calls only read, and nothing was changed"


ADVICE: dict[Kind, str] = {
    "repeats": "Its answer is already in the conversation. Use it, or try something different.",
    "cycles": "Another round will give the same answers. Say what blocks you and change course.",
    "reads": "You probably know enough. Begin the work, or say what is missing.",
}


def write_nudge(concern: Concern) -> str:
    """What the agent reads."""
    tone = "Note" if concern.stage == 1 else "Stop and think"
    text = f"{tone}: {describe_concern(concern)}. {ADVICE[concern.kind]}"
    if concern.stage > 1:
        text += " If you cannot go on, tell the user what you found and ask."
    return text
