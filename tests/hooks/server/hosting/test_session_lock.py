"""One process runs a session, and the lock of a dead one is free."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from amplifier_hooks.server.hosting.session_lock import SessionLock
from tests.support.processes import is_written
from tests.support.waiting import wait_until

HOLDING = """
import sys, time
from pathlib import Path
from amplifier_hooks.server.hosting.session_lock import SessionLock
lock = SessionLock(Path(sys.argv[1]), "s1")
Path(sys.argv[1], "taken").write_text(str(lock.take()))
time.sleep(60)
"""


def test_a_lock_is_taken_once(tmp_path: Path) -> None:
    """Until it is given back."""
    first, second = SessionLock(tmp_path, "s1"), SessionLock(tmp_path, "s1")
    assert first.take()
    assert not second.take()
    assert SessionLock(tmp_path, "s2").take()
    first.release()
    first.release()
    assert second.take()
    second.release(remove=True)
    assert not (tmp_path / "s1.lock").exists()


async def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    """Nobody has to tidy up after it."""
    holder = subprocess.Popen([sys.executable, "-c", HOLDING, str(tmp_path)])
    await wait_until(lambda: is_written(tmp_path / "taken"), timeout=50)
    lock = SessionLock(tmp_path, "s1")
    assert not lock.take()
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait(20)
    assert lock.take()
