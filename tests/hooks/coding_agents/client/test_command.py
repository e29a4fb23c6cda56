"""What an agent calls."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from amplifier_hooks.coding_agents.client import client

COMMAND = Path(client.__file__).with_name("command.py")


def test_it_runs_the_client() -> None:
    """Without arguments it says how it is used, and blocks."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", COMMAND], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "amplifier: usage: command.py FOLDER AGENT EVENT SECONDS [BUNDLE]\n"


def test_nothing_of_the_library_is_hidden(tmp_path: Path) -> None:
    """The folder of the client stands behind everything else."""
    code = f"import sys; __file__ = {str(COMMAND)!r}; __name__ = 'x'\n{COMMAND.read_text()}"
    code += "\nprint(sys.path[-1])"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=False
    )
    assert Path(done.stdout.strip()) == COMMAND.parent
