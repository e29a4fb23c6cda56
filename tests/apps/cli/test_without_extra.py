"""The command without its extra."""

from __future__ import annotations

import subprocess
import sys

WITHOUT_CLICK = """
import sys
sys.modules["click"] = None
from amplifier_apps.cli.main import main
"""


def test_without_the_extra_one_sentence_says_what_to_install() -> None:
    """An error is one line without a traceback, and says what would do."""
    program = [sys.executable, "-c", WITHOUT_CLICK]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.strip().endswith("pip install 'amplifier-hooks[cli]'")
    assert "Traceback" not in done.stderr
