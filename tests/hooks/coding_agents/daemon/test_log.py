"""The log of the resident process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from amplifier_hooks.coding_agents.daemon.log import trim_log


def test_a_log_that_is_too_long_begins_anew(tmp_path: Path) -> None:
    """What comes later stands at its beginning; a shorter one stays."""
    path = tmp_path / "log"
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(log, b"x" * 20)
    trim_log(log, 20)
    assert path.read_bytes() == b"x" * 20
    trim_log(log, 19)
    os.write(log, b"new")
    os.close(log)
    assert path.read_bytes() == b"new"


def test_what_is_no_file_has_no_length() -> None:
    """A terminal, a pipe or nothing at all is left alone."""
    read, write = os.pipe()
    trim_log(write, 0)
    os.close(read)
    os.close(write)
    trim_log(write, 0)


def test_warnings_are_logged_and_a_full_disk_is_borne() -> None:
    """A log that cannot be written ends nothing."""
    code = (
        "import logging, os; from amplifier_hooks.coding_agents.daemon.log import set_up_log;"
        "set_up_log(); log = logging.getLogger('x'); log.info('quiet'); log.warning('loud');"
        "os.dup2(os.open('/dev/full', os.O_WRONLY), 2); log.warning('lost');"
        "os.write(1, b'still here'); os._exit(0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stderr.endswith(b"WARNING loud\n")
    assert b"quiet" not in done.stderr
    assert done.stdout == b"still here"
