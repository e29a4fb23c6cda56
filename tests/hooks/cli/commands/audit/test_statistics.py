"""amplifier audit stats."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.hooks.cli.program import Outcome, invoke


def stats(*arguments: object) -> Outcome:
    return invoke("audit", "stats", *arguments)


def test_each_hook_is_counted(log: Path) -> None:
    """Calls, denials, questions that were put to somebody, injections, failures, and time."""
    rows = {row["hook"]: row for row in json.loads(stats(log, "--json").stdout)}
    assert rows["guard"] == {
        "hook": "guard",
        "calls": 11,
        "denials": 2,
        "asks": 0,
        "injections": 0,
        "errors": 0,
        "p50_ms": pytest.approx(4.0, rel=0.03),
        "p95_ms": pytest.approx(9.0, rel=0.03),
        "p99_ms": pytest.approx(9.0, rel=0.03),
    }
    assert (rows["asker"]["asks"], rows["asker"]["errors"]) == (0, 10)
    assert rows["linter"]["injections"] == 10


def test_the_table_has_its_numbers_to_the_right(log: Path) -> None:
    """The names to the left, below a head."""
    assert stats(log).stdout.splitlines() == [
        "hook    calls  denied  asked  injected  failed  p50 ms  p95 ms  p99 ms",
        "asker      10       0      0         0      10       1       1       1",
        "guard      11       2      0         0       0       4     9.2     9.2",
        "linter     10       0      0        10       0     0.5     0.5     0.5",
    ]


def test_only_the_selected_records_count(log: Path) -> None:
    """The same filters as for the records themselves."""
    assert json.loads(stats(log, "--json", "--session", "s2").stdout)[0]["calls"] == 1
    assert len(stats(log, "--session", "nobody").stdout.splitlines()) == 1
