"""One number for one question: every view of a trail gives the same figures of a hook."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, example, given, settings

from amplifier_audit import AuditLog, AuditSettings, open_log, read_records
from amplifier_core.hook_counts import HookCounts
from amplifier_hooks.agent.session.inspection.trails import Trail
from amplifier_hooks.approvals.reporting import write_record
from amplifier_hooks.approvals.stores.statistics import BOUNDS, list_figures
from amplifier_hooks.mcp.server.trail_tools import StatisticsArguments, TrailStatistics
from amplifier_hooks.mcp.server.trails import OpenTrail, Scope, Trails
from tests.hooks.cli.program import invoke
from tests.hooks.trails.random_sessions import (
    EVERY_FIGURE,
    RandomSession,
    Script,
    draw_scripts,
)

Figures = dict[str, Any]


def write_trail(session: RandomSession, path: Path) -> Path:
    """The records of a session, through the writer."""
    log = AuditLog(path, AuditSettings(level=session.level), name=path.name)
    for record in session.audit.records:
        about = {key: record[key] for key in ("session", "turn", "event", "hook", "registration")}
        log.append(record["type"], record["body"], **about)
    log.close_now()
    return path


def shorten(figures: Figures) -> Figures:
    """The figures that every view has, from those that `hooks stats` has."""
    return {
        "calls": figures["calls"],
        "denials": figures["answers"].get("deny", 0),
        "asks": figures["approvals"]["asked"],
        "injections": figures["answers"].get("inject_context", 0),
        "errors": figures["failures"],
        **{name: figures[name] for name in ("p50_ms", "p95_ms", "p99_ms")},
    }


def view_session(found: dict[str, HookCounts]) -> dict[str, Figures]:
    """What the session itself counted."""
    return {name: shorten(one.to_dict()) for name, one in found.items() if one.is_used}


def view_hooks_stats(path: Path, *options: str) -> dict[str, Figures]:
    told = json.loads(invoke("hooks", "stats", path, "--json", *options).stdout)["hooks"]
    return {name: shorten(one) for name, one in told.items() if has_figures(one)}


def has_figures(one: Figures) -> bool:
    return bool(one["calls"] or one["approvals"]["asked"])


def view_audit_stats(path: Path, *options: str) -> dict[str, Figures]:
    rows = json.loads(invoke("audit", "stats", path, "--json", *options).stdout)
    return by_hook(rows)


def by_hook(rows: list[Figures]) -> dict[str, Figures]:
    """In a part of a trail, a hook may have no more than the answer to an earlier question."""
    return {row.pop("hook"): row for row in rows if row["calls"] or row["asks"]}


def view_mcp_server(path: Path, **wanted: str) -> dict[str, Figures]:
    class OneTrail(Trails):
        def list(self, *, self_tests: bool = False) -> list[OpenTrail]:
            return [OpenTrail(Trail(path, 0.0), None)]

    tool = TrailStatistics(OneTrail(Scope(None), path))
    told = asyncio.run(tool.run(StatisticsArguments(**wanted)))
    assert told.complete
    return by_hook([one.model_dump() for one in told.hooks])


def view_report(path: Path, *options: str) -> dict[str, Figures]:
    told = json.loads(invoke("report", path, "--format", "json", "-o", "-", *options).stdout)
    (session,) = told["chapters"]
    assert session["hooks"] == told["totals"]["hooks"]
    return {name: shorten(one) for name, one in session["hooks"].items() if has_figures(one)}


def view_store(path: Path) -> dict[str, Figures]:
    """What a store adds up of the published records; of times it has ranges only."""
    sums: dict[str, Figures] = {}
    for number, one in enumerate(read_records(open_log(path)), 1):
        about = {key: one[key] for key in ("turn", "event", "hook")}
        for figures in list_figures(write_record(number, one["type"], one["body"], **about)):
            found = sums.setdefault(figures.hook, dict.fromkeys(_SUMMED, 0))
            found["calls"] += figures.count
            found["denials"] += figures.count * (figures.action == "deny")
            found["asks"] += figures.asked
            found["injections"] += figures.count * (figures.action == "inject_context")
            found["errors"] += figures.failures
            found["timed"] += figures.timed
            for bound in BOUNDS:
                found[f"within_{bound}"] += getattr(figures, f"within_{bound}")
    return {name: one for name, one in sums.items() if one["calls"] or one["asks"]}


_SUMMED = (
    *("calls", "denials", "asks", "injections", "errors", "timed"),
    *(f"within_{bound}" for bound in BOUNDS),
)


def check_store(store: dict[str, Figures], expected: dict[str, Figures]) -> None:
    assert store.keys() == expected.keys()
    for name, one in expected.items():
        found = store[name]
        for key in ("calls", "denials", "asks", "injections", "errors"):
            assert found[key] == one[key], (name, key)
        for share, key in ((0.5, "p50_ms"), (0.95, "p95_ms")):
            for bound in BOUNDS if one[key] is not None else ():
                if abs(one[key] - bound) > 0.05 * bound:  # known to about three of a hundred
                    reached = found[f"within_{bound}"] >= share * found["timed"]
                    assert reached == (one[key] <= bound), (name, key, bound)


def check_views(script: Script) -> None:
    session = RandomSession(script)
    asyncio.run(session.play())
    expected = view_session(session.count())
    with tempfile.TemporaryDirectory() as folder:
        path = write_trail(session, Path(folder) / "trail")
        assert view_hooks_stats(path) == expected
        assert view_audit_stats(path) == expected
        assert view_mcp_server(path) == expected
        assert view_report(path) == expected
        check_store(view_store(path), expected)
        check_part(path)


def check_part(path: Path) -> None:
    """The same of the second half of a trail."""
    times = [one["time"] for one in read_records(open_log(path))]
    since = f"{times[len(times) // 2]}"
    expected = view_hooks_stats(path, "--since", since)
    assert view_audit_stats(path, "--since", since) == expected
    assert view_mcp_server(path, since=since) == expected
    if any(one["calls"] for one in expected.values()):
        assert view_report(path, "--since", since) == expected


@settings(max_examples=6, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@example(EVERY_FIGURE)
@given(draw_scripts())
def test_every_view_of_a_random_trail_gives_the_same_figures(script: Script) -> None:
    """And they are those that the session counted itself."""
    check_views(script)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@settings(max_examples=300, deadline=None)
@given(draw_scripts())
def test_the_same_for_hundreds(script: Script) -> None:
    """Figure by figure."""
    check_views(script)


def test_every_view_of_a_session_of_the_command_line_gives_the_same_figures(tmp_path: Path) -> None:
    """Also the figures that the session ended with: hooks of `session:end` come after them."""
    program = Path(sys.executable).with_name("amplifier")
    environment = {"HOME": str(tmp_path), "PATH": f"{program.parent}:/usr/bin:/bin"}
    for folder, *arguments in (
        ("", "init", "--offline", "a"),
        ("a", "run", "--approve", "deny", "x"),
    ):
        command = [str(program), *arguments]
        subprocess.run(command, cwd=tmp_path / folder, env=environment, check=True, timeout=120)
    (path,) = (tmp_path / ".local" / "share" / "amplifier" / "audit").iterdir()
    expected = view_hooks_stats(path)
    assert expected["hooks-production-guard"]["asks"] == 1
    assert view_audit_stats(path) == view_mcp_server(path) == view_report(path) == expected
    check_store(view_store(path), expected)
    records = list(read_records(open_log(path)))
    (ended,) = (one["body"]["stats"]["hooks"] for one in records if one["type"] == "session_ended")
    ends = (one for one in records if one["type"] == "dispatch" and one["event"] == "session:end")
    last = next(ends)
    late = {answer["hook"] for answer in last["body"]["hooks"]}
    assert {name: shorten(one) for name, one in ended.items() if name not in late} == {
        name: one for name, one in expected.items() if name not in late
    }
