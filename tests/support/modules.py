"""Modules in files, for tests that load them."""

from __future__ import annotations

from pathlib import Path

GOOD_HOOKS = """
from amplifier_core.models import HookResult

async def ok(event, data):
    return HookResult(action="continue")

async def mount(coordinator, config):
    return coordinator.hooks.register("tool:pre", ok)
"""


def write_module(folder: Path, text: str, name: str = "sample_module.py") -> Path:
    """A module of one file; returns where it is."""
    file = folder / name
    file.write_text(text)
    return file
