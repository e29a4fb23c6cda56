"""A scan in a process of its own ends, whatever became of its parent."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import amplifier_foundation.tools.scan as scan_module

JOB = """
import amplifier_foundation.tools.scan as scan
scan.GRACE = 1
scan.main()
"""


def test_a_scan_that_nobody_ends_runs_out_of_time_by_itself(tmp_path: Path) -> None:
    """A hostile pattern whose parent was killed must not burn a core for ever."""
    (tmp_path / "bait.txt").write_text("a" * 40 + "!\n")
    request = {
        "pattern": "(a+)+$", "max_results": 10, "max_bytes": 10_000, "max_files": 10,
        "seconds": 0.5, "skip": [], "engine": "re",
    }  # fmt: skip
    job = {"asked": ".", "root": str(tmp_path), "parts": [], "request": request}
    done = subprocess.run(
        [sys.executable, "-P", "-c", JOB], input=json.dumps(job), text=True, timeout=50, check=False
    )
    assert done.returncode in (-signal.SIGKILL, -signal.SIGXCPU)
    assert scan_module.GRACE == 10
