"""The figures of all benchmarks, kept in a file from which docs/performance.md is written."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
FILE = FOLDER / "figures.json"
PATIENCE = 900

Figures = dict[str, Any]
"""By the name of a benchmark: when and where it was measured, its title, and its rows."""


class BenchmarkFailed(Exception):
    """A benchmark that measured nothing."""


def list_benchmarks() -> list[str]:
    """Their names: `kernel` is benchmarks/bench_kernel.py."""
    return sorted(path.stem.removeprefix("bench_") for path in FOLDER.glob("bench_*.py"))


def read_figures(file: Path = FILE) -> Figures:
    """What was measured last."""
    figures: Figures = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return figures


def write_figures(figures: Figures, file: Path = FILE) -> None:
    """Keep them, a line for each row."""
    text = json.dumps(figures, indent=1, ensure_ascii=False, sort_keys=True)
    file.write_text(f"{text}\n", encoding="utf-8")


def measure(names: Sequence[str], known: Figures) -> Figures:
    """Run the benchmarks, all if none is named; those that are not run keep their figures."""
    wanted = list(names) or list_benchmarks()
    unknown = sorted(set(wanted) - set(list_benchmarks()))
    if unknown:
        raise BenchmarkFailed(f"no benchmark {unknown}; there are {list_benchmarks()}")
    kept = {name: one for name, one in known.items() if name in list_benchmarks()}
    for name in wanted:
        print(f"— {name}", flush=True)
        reports = run_benchmark(name)
        if reports:
            kept[name] = {**describe_machine(), "reports": reports}
    return kept


def run_benchmark(name: str) -> list[dict[str, Any]]:
    """What it reports; nothing if it found nothing to measure on this machine."""
    command = [sys.executable, "-m", f"benchmarks.bench_{name}", "--json"]
    done = subprocess.run(
        command, cwd=FOLDER.parent, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    if done.returncode:
        raise BenchmarkFailed(f"{name} ended with {done.returncode}: {done.stderr.strip()[-2000:]}")
    return [
        {"title": report["title"], "rows": [_round(row) for row in report["rows"]]}
        for report in map(json.loads, filter(_is_report, done.stdout.splitlines()))
    ]


def describe_machine() -> dict[str, Any]:
    """When, on what kind of machine, and how busy it was with other things."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}",
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 1),
    }


def _is_report(line: str) -> bool:
    return line.startswith("{")


def _round(row: dict[str, Any]) -> dict[str, Any]:
    """Three digits that count: the rest is noise, and changes with every run."""
    return {
        name: float(f"{value:.3g}") if isinstance(value, float) else value
        for name, value in row.items()
    }
