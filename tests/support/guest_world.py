"""A person's machine on which agents of others call our command."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from amplifier_audit import open_log, read_records, verify
from amplifier_hooks.coding_agents.daemon.control import stop_resident
from amplifier_hooks.coding_agents.daemon.folder import (
    prepare_folder,
    select_environment,
    write_launch,
)
from amplifier_hooks.coding_agents.installing.line import make_guest_command
from tests.hooks.coding_agents.sessions.agents import PLAIN, make_project, record


@dataclass(frozen=True)
class World:
    """A person's machine: a home, a project, and the command that agents call."""

    home: Path
    project: Path
    folder: Path

    def call(self, agent: str, event: str, **changes: Any) -> subprocess.CompletedProcess[bytes]:
        """What an agent does at an event: the command through a shell, the payload on stdin."""
        native = event.partition(".")[0]  # behind it, the name of a recording says which tool
        line = make_guest_command(self.folder).build_line(agent, native, 60, gate=True)
        payload = record(agent, event, cwd=str(self.project), **changes)
        return subprocess.run(
            ["/bin/sh", "-c", line],
            input=json.dumps(payload).encode(),
            capture_output=True,
            env={"PATH": os.defpath},
            cwd=self.project,
            timeout=150,
            check=False,
        )

    def read_trail(self, session: str) -> list[dict[str, Any]]:
        """The records of a session, once its trail is proved to be whole."""
        path = self.home / ".local" / "share" / "amplifier" / "audit" / session
        assert verify(path).verdict in ("consistent", "recovered")
        return list(read_records(open_log(path)))


@contextmanager
def make_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hook: str) -> Iterator[World]:
    """With one hook file in the project; ends with the process that answered."""
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "AMPLIFIER_STORE"):
        monkeypatch.delenv(name, raising=False)
    project.mkdir()
    write_hook(project, hook)
    with tempfile.TemporaryDirectory(prefix="guests-") as short:
        folder = Path(short) / "g"
        prepare_folder(folder)
        write_launch(folder, select_environment(os.environ))
        try:
            yield World(home, project, folder)
        finally:
            stop_resident(folder)


def write_hook(project: Path, code: str) -> None:
    """Have the project governed by this hook alone, and trusted."""
    (project / "guard.py").write_text(code)
    make_project(project, f"{PLAIN}  - {{module: guard, source: ./guard.py}}\n")
