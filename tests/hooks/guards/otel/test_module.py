"""Mounting hooks-otel."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from amplifier_hooks.modules.installation import name_install_command


def test_the_sdk_is_imported_only_when_mounted() -> None:
    """No heavy import at module top level."""
    program = "import sys, amplifier_hooks.guards.otel; print('opentelemetry' in sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=50, check=True
    )
    assert ran.stdout.strip() == "False"


def test_without_the_extra_the_error_says_what_to_install(tmp_path: Path) -> None:
    """An extra that is missing is named."""
    program = """
import asyncio, pathlib, sys
sys.modules["opentelemetry.trace"] = None
from amplifier_hooks.guards.otel import mount
from tests.support.harness import Harness
try:
    asyncio.run(mount(Harness(pathlib.Path(".")).coordinator, {}))
except Exception as error:
    print(type(error).__name__, error)
"""
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=50, check=True
    )
    assert ran.stdout.startswith("ModuleLoadError hooks-otel needs the package 'opentelemetry")
    assert name_install_command("otel") in ran.stdout
