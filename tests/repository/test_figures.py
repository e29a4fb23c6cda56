"""The figures of the benchmarks: measured, rounded, and kept for the page about performance."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from benchmarks.figures import BenchmarkFailed, measure, read_figures, write_figures


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The benchmarks that were run; each prints what it measured, and a remark."""
    names: list[str] = []

    def run(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        names.append(command[2])
        row = {"what": "emit", "ratio": 1.23456, "at_most": None, "subject_us": 0.0123456}
        said = "" if "adapters" in command[2] else json.dumps({"title": "A", "rows": [row]})
        failed = int("audit" in command[2])
        return subprocess.CompletedProcess(command, failed, f"{said}\na remark\n", "no disk\n")

    monkeypatch.setattr(subprocess, "run", run)
    return names


def test_a_benchmark_is_measured_and_the_others_keep_their_figures(runs: list[str]) -> None:
    """Three digits count; what is no benchmark any more is dropped."""
    kept = measure(["kernel"], {"rules": {"reports": []}, "gone": {}})
    assert runs == ["benchmarks.bench_kernel"]
    assert kept.keys() == {"kernel", "rules"}
    (report,) = kept["kernel"]["reports"]
    assert report["rows"] == [
        {"what": "emit", "ratio": 1.23, "at_most": None, "subject_us": 0.0123}
    ]
    assert kept["kernel"]["machine"].endswith(("Linux", "Darwin"))


def test_one_that_measures_nothing_here_keeps_what_it_had(runs: list[str]) -> None:
    """The adapters, where no framework is installed."""
    assert measure(["adapters"], {"adapters": {"reports": [1]}}) == {"adapters": {"reports": [1]}}


def test_a_failure_and_an_unknown_name_say_what_is_wrong(runs: list[str]) -> None:
    """Nothing is kept then."""
    with pytest.raises(BenchmarkFailed, match="audit ended with 1: no disk"):
        measure(["audit"], {})
    with pytest.raises(BenchmarkFailed, match=r"no benchmark \['kernal'\]; there are \['adapters'"):
        measure(["kernal"], {})


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    """And where nothing was measured yet, there is nothing."""
    file = tmp_path / "figures.json"
    assert read_figures(file) == {}
    write_figures({"kernel": {"load": 0.5}}, file)
    assert read_figures(file) == {"kernel": {"load": 0.5}}
