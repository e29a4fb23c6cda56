"""Asking the resident process about itself, and ending it: for commands that look after it."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
import time
from pathlib import Path
from typing import Any

from amplifier_hooks.coding_agents.client.client import check_peer, read_answer
from amplifier_hooks.coding_agents.daemon.folder import RUNNING_LOCK, SOCKET, check_folder
from amplifier_hooks.coding_agents.daemon.protocol import CONTROL, PROTOCOL

_STEP = 0.02


def read_status(folder: Path, seconds: float = 5.0) -> dict[str, Any] | None:
    """What the resident process says about itself, or None if there is none.

    PermissionError if folder or process are not ours, another OSError or ValueError if it does not
    answer properly.
    """
    return _ask(folder, "status", seconds)


def stop_resident(folder: Path, seconds: float = 30.0) -> bool:
    """End the resident process after what is open; False if there was none.

    TimeoutError if it has not ended by then; its calls are still answered.
    """
    limit = time.monotonic() + seconds
    if _ask(folder, "stop", seconds) is None:
        return False
    while _is_running(folder):
        if time.monotonic() > limit:
            raise TimeoutError(f"The resident process has not ended within {seconds:g} seconds")
        time.sleep(_STEP)
    return True


def _ask(folder: Path, control: str, seconds: float) -> dict[str, Any] | None:
    check_folder(folder)
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(seconds)
        try:
            line.connect(str(folder / SOCKET))
        except (FileNotFoundError, ConnectionRefusedError):
            return None
        check_peer(line)
        fields = ("", CONTROL, control, f"{seconds:.3f}", "", "", "")
        line.sendall(PROTOCOL + b"\t" + "\t".join(fields).encode() + b"\n")
        line.shutdown(socket.SHUT_WR)
        code, text, error = read_answer(b"".join(iter(lambda: line.recv(65536), b"")))
    if code:
        raise ValueError(error.decode(errors="replace").strip())
    answer: dict[str, Any] = json.loads(text)
    return answer


def _is_running(folder: Path) -> bool:
    """Whether a process holds the lock, which it does to its very end."""
    lock = os.open(folder / RUNNING_LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return False
        return True
    finally:
        os.close(lock)
