"""A real server in a process of its own, behind the SDK's client."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.testing import TestCoordinator
from amplifier_hooks.agent.tools import mcp
from tests.support.waiting import wait_until

SMALL = Path(__file__).parents[4] / "support" / "mcp_server_small.py"


class RealServer:
    """The small server, started by the module in a session."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.host = TestCoordinator()
        self.host.register_capability("session.working_dir", str(folder))
        self.config: dict[str, Any] = {
            "command": sys.executable,
            "args": ["-I", "-S", str(SMALL), str(folder)],
            "restart": {"delay": 0.01},
        }
        self.undo: Any = None

    async def start(self, **options):
        """Mount the module as a session does."""
        servers = {"small": {**self.config, **options}}
        self.undo = await mcp.mount(self.host, {"servers": servers})
        await mcp.on_session_ready(self.host)
        return self

    async def call(self, tool, **input):
        return await self.host.get("tools")[f"mcp__small__{tool}"].execute(input)

    @property
    def received(self):
        """The methods of what the server was sent."""
        lines = (self.folder / "received").read_text().splitlines()
        return [json.loads(line).get("method") for line in lines]

    @property
    def env(self):
        return json.loads((self.folder / "env").read_text())

    @property
    def shown(self):
        return "\n".join(text for text, _, _ in self.host.screen.messages)

    async def wait_for_text(self, text):
        await wait_until(lambda: text in self.shown)


@pytest.fixture
async def server(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    made = RealServer(tmp_path)
    yield made
    if made.undo is not None:
        await made.undo()


def is_running(pid: int) -> bool:
    """Whether a process is there, and no zombie."""
    try:
        return ") Z" not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
