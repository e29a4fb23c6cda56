"""Modules in files, for the tests of mounting."""

from __future__ import annotations

from pathlib import Path

MODULE = """
from amplifier_core.models import HookResult

async def quiet(event, data):
    return HookResult(action="continue")

async def mount(coordinator, config):
    notes = coordinator.session_state
    notes["config"] = config
    coordinator.hooks.register("tool:pre", quiet, name="quiet", priority=3)
    def undo():
        notes.setdefault("undone", []).append(config.get("name"))
    return undo

async def on_session_ready(coordinator):
    coordinator.session_state["ready"] = True
"""

PLAIN = """
from amplifier_core.interfaces import hook
from amplifier_core.models import HookResult

@hook("tool:pre", "tool:post", priority=7, on_error="deny")
async def guard(event, data):
    return HookResult(action="continue")

async def on_session_start(event, data):
    return HookResult(action="continue")

async def helper(event, data):
    return None
"""

TOOLS = """
from amplifier_core.testing import MockTool

async def mount(coordinator, config):
    for name in config["names"]:
        await coordinator.mount("tools", MockTool(name))
    if config.get("fails"):
        raise OSError("no network")
"""


def write(folder: Path, name: str, text: str) -> str:
    """A file below the folder; returns the name it goes by in a plan."""
    file = folder / name
    file.parent.mkdir(exist_ok=True, parents=True)
    file.write_text(text)
    return name
