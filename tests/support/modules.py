"""Modules in files, for tests that load them."""

from __future__ import annotations

import importlib
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
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


def write_package(folder: Path, module_id: str, text: str, **parts: str) -> Path:
    """A package as the ecosystem writes them, `amplifier_module_<id>`; returns its folder."""
    package = folder / f"amplifier_module_{module_id.replace('-', '_')}"
    package.mkdir(parents=True, exist_ok=True)
    (package / "__init__.py").write_text(text)
    for name, part in parts.items():
        (package / f"{name}.py").write_text(part)
    return package


def write_distribution(folder: Path, name: str, entries: Mapping[str, str]) -> None:
    """What an installed distribution leaves beside its packages: its name and entry points."""
    info = folder / f"{name.replace('-', '_')}-1.2.3.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2.3\n")
    lines = [f"{module_id} = {value}" for module_id, value in entries.items()]
    (info / "entry_points.txt").write_text("\n".join(["[amplifier.modules]", *lines, ""]))


def make_old(place: Path, seconds: float = 60) -> None:
    """Give a file or folder the time of a change that long ago."""
    then = time.time_ns() - int(seconds * 1e9)
    os.utime(place, ns=(then, then))


@contextmanager
def imports_undone() -> Iterator[None]:
    """Drop the modules that were imported inside, and what was added to `sys.path`."""
    path, before = list(sys.path), dict(sys.modules)
    try:
        yield
    finally:
        sys.path[:] = path
        for name in [one for one in sys.modules if one.startswith("amplifier_module_")]:
            if sys.modules[name] is not before.get(name):
                del sys.modules[name]
        importlib.invalidate_caches()
