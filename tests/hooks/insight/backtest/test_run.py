"""Many generated sessions before policies: nothing is found where nothing changed."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.agent.session.inspection.selection import select_trails
from amplifier_hooks.insight.backtest import Tally
from amplifier_hooks.trails import RecordedEvent, read_history
from tests.hooks.insight.backtest.recorder import Recorder, Row, row

NUMBERS = 8
ANSWERS = ["continue"] * 6 + ["deny", "ask_user", "inject_context", "modify", "fail"]
SEEDED = {"deny": "newly_denied", "ask_user": "newly_asked"} | {
    "inject_context": "newly_injected",
    "modify": "changed_input",
}


def _make_rows(rng: random.Random, start: str, most: int, answers: list[str]) -> list[Row]:
    return [
        {
            "name": f"{start}{number}",
            "event": rng.choice(["tool:pre", "tool:pre", "prompt:submit", "tool:*"]),
            "priority": rng.randint(-3, 3),
            "on_error": rng.choice(["continue", "deny"]),
            "answers": {str(n): rng.choice(answers) for n in range(NUMBERS)},
        }
        for number in range(rng.randint(0, most))
    ]


async def _record(rng: random.Random, recorder: Recorder, sessions: int) -> list[Row]:
    """Record sessions of a policy of random hooks; some of each have hooks of their own."""
    rows = _make_rows(rng, "hook", 5, ANSWERS)
    recorder.save(*rows)
    plain = [one for one in ANSWERS if one != "modify"]
    for _ in range(sessions):
        own = _make_rows(rng, "own", 2, plain)
        said = rng.choices(["Allow once", "Allow always", "Deny"], k=NUMBERS)
        prompts: Any = [("prompt:submit", {"prompt": str(rng.randrange(NUMBERS))})]
        numbers = rng.choices(range(NUMBERS), k=rng.randint(1, 10))
        await recorder.record(numbers, *said, own=own, events=prompts)
    return rows


def _count_expected(recorder: Recorder, action: str, number: int) -> int:
    """The calls of a number for which one more answer of this action makes a difference."""
    found = 0
    for trail in select_trails([str(recorder.trails)]):
        for item in read_history(trail):
            if not isinstance(item, RecordedEvent) or item.again or item.event != "tool:pre":
                continue
            injects = any(one.action == "inject_context" for one in item.answers)
            stands = item.action == "deny" or (action == "ask_user" and item.action == "ask_user")
            stands = stands or (action == "inject_context" and injects)
            found += item.data["tool_input"]["n"] == number and not stands
    return found


async def _check_batch(folder: Path, seed: int, sessions: int) -> Tally:
    rng = random.Random(seed)
    folder.mkdir()
    recorder = Recorder(folder)
    rows = await _record(rng, recorder, sessions)
    same = await recorder.backtest()
    assert same.counts == {}, f"seed {seed}"
    assert same.sessions == sessions
    questions = same.questions.values()
    assert [then for then, _ in questions] == [would for _, would in questions], f"seed {seed}"
    action, number = rng.choice(sorted(SEEDED)), rng.randrange(NUMBERS)
    recorder.save(*rows, row("seeded", 100, **{f"n{number}": action}))  # type: ignore[arg-type]
    changed = await recorder.backtest()
    expected = Counter({SEEDED[action]: _count_expected(recorder, action, number)})
    assert changed.counts == dict(+expected), f"seed {seed}: {action} for {number}"
    return changed


async def test_an_unchanged_policy_differs_nowhere_and_a_changed_one_where_it_was_changed(
    tmp_path: Path,
) -> None:
    """Generated sessions: all actions, failures, guards, priorities, hooks of programs."""
    found = [await _check_batch(tmp_path / str(seed), seed, 8) for seed in (3, 7)]
    assert all(one.counts for one in found)


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_a_thousand_generated_sessions_differ_only_where_the_policy_was_changed(
    tmp_path: Path,
) -> None:
    """The same for a thousand."""
    for seed in range(100, 150):
        await _check_batch(tmp_path / str(seed), seed, 20)
