"""A pytest plugin that backtests all sessions of a test by the hooks that they had.

pytest -p tests.support.backtests tests/journeys
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.agent.bundles import BundleError, bundle_from_plan
from amplifier_hooks.insight.backtest import PolicySource, Tally, backtest_trails
from amplifier_hooks.insight.backtest.policy import make_policy
from tests.support import tallies
from tests.support.sessions import SessionHarness
from tests.support.tallies import AS_BEFORE

_NOBODY = "0" * 64
tally = tallies.Tally()
CHANGED_MEANWHILE = {
    "test_a_link_that_is_swapped_while_a_question_waits_is_seen": "its files changed meanwhile",
}
"""Tests whose sessions would be judged differently, each with the reason."""


def write_trail(harness: SessionHarness, folder: Path) -> Path:
    """The trail of a session in memory, as a file that can be read; it proves nothing."""
    lines = []
    for number, record in enumerate(harness.trail.records):
        first = {"v": 1, "log": "memory", "seq": number, "time": record["time"], "mono": 0}
        names = ("session", "turn", "event", "hook", "registration", "type", "body")
        last = {"prev": _NOBODY, "hash": _NOBODY}
        whole = {**first, **{name: record[name] for name in names}, **last}
        lines.append(json.dumps(whole, separators=(",", ":")))
    path = folder / "00000000.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


async def backtest_harness(harness: SessionHarness, folder: Path) -> Tally:
    """What the hooks of a session would decide if they were asked once more."""
    working_dir = harness.coordinator.get_capability("session.working_dir")
    place = Path(working_dir) if working_dir else folder
    sections: dict[str, Any] = {"agents": {}, "approval": {}, "audit": {}, "sandbox": {}}
    policy = make_policy(bundle_from_plan({**sections, **harness.plan}), PolicySource(), place)
    found = Tally()
    async for _, tally in backtest_trails([write_trail(harness, folder)], policy):
        found.add(tally)
    return found


@pytest.fixture(autouse=True)
def backtested_sessions(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[list[SessionHarness]]:
    """After the test, put every session that it ran before the hooks that it had."""
    ran: list[SessionHarness] = []
    end = SessionHarness.__aexit__

    async def note_end(self: SessionHarness, *error: object) -> None:
        await end(self, *error)
        ran.append(self)

    monkeypatch.setattr(SessionHarness, "__aexit__", note_end)
    yield ran
    if why := CHANGED_MEANWHILE.get(getattr(request.node, "originalname", "")):
        tally[why] += len(ran)
        return
    logging.disable(logging.CRITICAL)
    for harness in ran:
        try:
            found = asyncio.run(backtest_harness(harness, tmp_path_factory.mktemp("backtest")))
        except BundleError:
            tally["its plan is one that only the kernel takes"] += 1
            continue
        told = {kind: number for kind, number in found.counts.items() if kind != "cannot_tell"}
        assert not told, json.dumps(found.examples, indent=1)
        tally[AS_BEFORE] += 1
    logging.disable(logging.NOTSET)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was backtested, and what was not."""
    terminalreporter.write_line(tally.tell("backtests"))
