"""The command that coding agents call, run as they run it, and resident processes to talk to."""

from __future__ import annotations

import contextlib
import json
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from amplifier_hooks.coding_agents.client import client
from amplifier_hooks.coding_agents.daemon.control import stop_resident

CLIENT = client.__file__
PLAYED = Path(__file__).with_name("guest_resident.py")
PYTHON = getattr(sys, "_base_executable", sys.executable)


@contextlib.contextmanager
def make_guest_folder() -> Iterator[Path]:
    """A private folder with a short path; the resident process in it is ended afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="amplifier-guests-", dir="/tmp"))
    try:
        yield folder
    finally:
        with contextlib.suppress(OSError, ValueError):
            stop_resident(folder)
        shutil.rmtree(folder)


def write_played_launch(folder: Path, **env: str) -> None:
    """Let clients of this folder start the resident process of `guest_resident.py`."""
    root = str(Path(__file__).parents[2])
    data = {
        "argv": [sys.executable, str(PLAYED), str(folder)],
        "env": {
            "PATH": "/usr/bin",
            "PYTHONPATH": root,
            "AMPLIFIER_GUEST_IDLE": "60",
            **env,
        },
    }
    write_launch_text(folder, json.dumps(data))


def write_launch_text(folder: Path, text: str) -> None:
    """Put any text in the place of launch.json."""
    path = folder / "launch.json"
    path.write_text(text)
    path.chmod(0o600)


def build_command(folder: Path, *words: str) -> list[str]:
    """The command line of the client."""
    return [PYTHON, "-I", "-S", CLIENT, str(folder), *words]


def call_client(
    folder: Path,
    payload: Any = None,
    *,
    event: str = "PreToolUse",
    seconds: float = 50,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Call it with an event of Claude; `payload` is sent as JSON, bytes as they are."""
    return subprocess.run(
        build_command(folder, "claude", event, f"{seconds:g}"),
        input=payload if isinstance(payload, bytes) else json.dumps(payload or {}).encode(),
        capture_output=True,
        env={"PATH": "/usr/bin:/bin", **(env or {})},
        cwd=cwd,
        timeout=120,
        check=False,
    )


def assert_refused(done: subprocess.CompletedProcess[bytes], *words: str) -> None:
    """It ended with code 2, nothing on stdout, and one line on stderr that says these words."""
    text = done.stderr.decode()
    assert (done.returncode, done.stdout) == (2, b""), text
    assert text.startswith("amplifier: "), text
    assert text.count("\n") == 1, text
    assert text.endswith("\n"), text
    for word in words:
        assert word in text


@contextlib.contextmanager
def serve_script(folder: Path, *answers: bytes | None) -> Iterator[list[bytes]]:
    """A server at the folder's socket that gives these answers, and then is gone.

    Yields what it was sent; None leaves the client without an answer until the end.
    """
    heard: list[bytes] = []
    held: list[socket.socket] = []
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(folder / "guest.sock"))
    listener.listen()

    def serve() -> None:
        for answer in answers:
            line, _ = listener.accept()
            if answer is None:
                held.append(line)
                continue
            with line:
                heard.append(b"".join(iter(lambda: line.recv(65536), b"")))  # noqa: B023
                with contextlib.suppress(OSError):  # it only looked whether anybody is here
                    line.sendall(answer)
        listener.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield heard
    finally:
        thread.join(timeout=60)
        for line in held:
            line.close()
        (folder / "guest.sock").unlink(missing_ok=True)
