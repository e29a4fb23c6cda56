"""One pass over the files for a pattern."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import amplifier_hooks.agent.tools.search.scan as scan_module
from amplifier_hooks.agent.tools.base import Refused
from amplifier_hooks.agent.tools.search.scan import Request, require_glob, scan

LIMITS: dict[str, Any] = {
    "max_results": 10,
    "max_bytes": 10_000,
    "max_files": 100,
    "seconds": 20,
    "skip": [".git"],
    "engine": "re2",
}
JOB = """
import amplifier_hooks.agent.tools.search.scan as scan
scan.GRACE = 1
scan.main()
"""


def make_request(pattern: str, **more: Any) -> Request:
    return Request(pattern=pattern, **{**LIMITS, **more})


def run_apart(code: str, folder: Path, **request: Any) -> subprocess.CompletedProcess[str]:
    job = {"asked": ".", "root": str(folder), "parts": [], "request": {**LIMITS, **request}}
    return subprocess.run(
        [sys.executable, "-P", "-c", code],
        input=json.dumps(job),
        text=True,
        timeout=50,
        check=False,
        capture_output=True,
    )


def test_a_report_has_the_lines_and_the_files_that_were_shown(tree, locate):
    """With the size of each, for the event."""
    report = scan(locate("src"), make_request("^def", mode="content"))
    assert report.lines == [f"{tree}/src/a.py:1:def a():", f"{tree}/src/deep/b.py:1:def b():"]
    assert report.shown == [(f"{tree}/src/a.py", 18), (f"{tree}/src/deep/b.py", 18)]
    assert report.notes == []


@pytest.mark.parametrize("mode", ["files_with_matches", "count"])
def test_a_file_that_is_only_named_or_counted_was_not_shown(locate, mode):
    """Nothing of its text gets out."""
    report = scan(locate("src"), make_request("^def", mode=mode))
    assert len(report.lines) == 2
    assert report.shown == []


def test_a_single_file_can_be_looked_through(tree, locate):
    """A glob is compared with its name."""
    place = locate("src/deep/c.txt")
    assert scan(place, make_request("line")).lines == [f"{tree}/src/deep/c.txt"]
    assert scan(place, make_request("line", glob="*.txt")).lines
    assert not scan(place, make_request("line", glob="*.py")).lines


def test_a_full_answer_ends_the_scan(locate):
    """What did not fit is not announced either."""
    report = scan(locate("."), make_request("main", mode="content", max_results=1))
    assert len(report.lines) == len(report.shown) == 1
    assert report.notes == ["only the first 1 results are shown"]


def test_what_is_too_large_is_left_out_and_counted(tree, locate):
    """It is not even read."""
    with (tree / "huge").open("wb") as file:
        file.truncate(100_000_000_000)
    report = scan(locate("."), make_request("main"))
    assert report.notes == ["1 files over 10,000 bytes were left out"]


def test_what_is_no_text_or_cannot_be_read_is_passed_over(tree, locate):
    """A null byte makes a file binary; a link is not followed."""
    report = scan(locate("."), make_request("def main|secret", skip=[".git", ".amplifier"]))
    assert report.lines == [f"{tree}/main.py", f"{tree}/node_modules/m.py"]


def test_a_scan_that_is_told_to_stop_says_so(locate):
    """With what it has so far."""
    stop = threading.Event()
    stop.set()
    report = scan(locate("."), make_request("main"), stop)
    assert (report.lines, report.notes) == ([], ["stopped after 20 seconds"])


def test_a_long_line_is_cut(tree, locate):
    """A file without line ends does not fill the answer."""
    (tree / "wide.txt").write_text("x" * 5000)
    [line] = scan(locate("wide.txt"), make_request("x", mode="content")).lines
    assert line.endswith("x…")
    assert len(line) < 700


def test_a_glob_that_cannot_be_read_is_refused(locate):
    """Before anything is opened."""
    require_glob("**/*.{py,txt}")
    with pytest.raises(Refused, match="alternatives"):
        require_glob("{a,b}" * 40)
    with pytest.raises(Refused, match="alternatives"):
        scan(locate("."), make_request("main", glob="{a,b}" * 40))


def test_a_process_of_its_own_answers_with_the_report_or_the_refusal(tree):
    """One JSON document each time."""
    code = "from amplifier_hooks.agent.tools.search.scan import main; main()"
    done = run_apart(code, tree, pattern="^def a", engine="re")
    assert json.loads(done.stdout)["lines"] == [f"{tree}/src/a.py"]
    done = run_apart(code, tree, pattern="(", engine="re")
    assert "'(' is not a regular expression" in json.loads(done.stdout)["refused"]


def test_a_scan_that_nobody_ends_runs_out_of_time_by_itself(tmp_path):
    """A hostile pattern whose parent was killed must not burn a core for ever."""
    (tmp_path / "bait.txt").write_text("a" * 40 + "!\n")
    done = run_apart(JOB, tmp_path, pattern="(a+)+$", engine="re", seconds=0.5)
    assert done.returncode in (-signal.SIGKILL, -signal.SIGXCPU)
    assert scan_module.GRACE == 10
