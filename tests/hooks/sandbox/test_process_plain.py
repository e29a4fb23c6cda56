"""Commands of the person's own, which are no child of a cell."""

from __future__ import annotations

import os
import signal

from amplifier_hooks.sandbox.process_plain import PlainRun
from tests.support.processes import is_running


async def test_what_left_the_group_stays_after_an_orderly_end(tmp_path) -> None:
    """A notification may start a daemon; nothing that the agent wrote runs this way."""
    marker = tmp_path / "pid"
    inner = f"setsid bash -c 'echo $$ > {marker}; exec sleep 60' > /dev/null 2>&1 &"
    script = f"{inner} while ! [ -s {marker} ]; do sleep 0.01; done"
    outcome = await PlainRun(["bash", "-c", script], None, None, 100).run(None, 30)
    assert outcome.returncode == 0
    assert is_running(marker)
    os.kill(int(marker.read_text()), signal.SIGKILL)
