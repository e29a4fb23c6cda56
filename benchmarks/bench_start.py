"""What starting costs: the import of the registry, the command line, and one more session."""

from __future__ import annotations

import logging
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from amplifier_core.hooks import HookRegistry
from amplifier_core.models import HookResult
from amplifier_core.session import AmplifierSession
from benchmarks.harness import Row, compare, loop_of, report

STARTS = 20
AMPLIFIER = str(Path(sys.executable).with_name("amplifier"))
PLAN = {"session": {"orchestrator": "loop-basic", "context": "context-simple"}}

PACKAGES = "import asyncio, logging; from pydantic import BaseModel"
ONE_MODEL = f"{PACKAGES}\nclass One(BaseModel, defer_build=True):\n    field: int = 0"


def measure_start(command: Sequence[str], environment: Mapping[str, str]) -> float:
    """The processor time of one run; others may keep the machine busy, and a start is short."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def compare_starts(environment: Mapping[str, str]) -> list[Row]:
    """The programs in turns, the best of each; the first turn compiles and does not count."""
    python = [sys.executable, "-c"]
    programs = {
        "pass": [*python, "pass"],
        "click": [*python, "import click"],
        "packages": [*python, PACKAGES],
        "model": [*python, ONE_MODEL],
        "hooks": [*python, "import amplifier_core.hooks"],
        "version": [AMPLIFIER, "--version"],
        "help": [AMPLIFIER, "--help"],
    }
    turns = [
        {name: measure_start(command, environment) for name, command in programs.items()}
        for _ in range(1 + STARTS)
    ]
    best = {name: min(turn[name] for turn in turns[1:]) for name in programs}

    def row(what: str, baseline: str, subject: str, at_most: float | None = None) -> Row:
        base, cost = best[baseline], best[subject]
        return Row(what, cost / base, at_most, base * 1e6, cost * 1e6)

    imported = "import amplifier_core.hooks"
    return [
        row(f"{imported}, × asyncio, logging, pydantic", "packages", "hooks"),
        row(f"{imported}, × the same and a model of one field", "model", "hooks"),
        row("amplifier --version, × python -c pass", "pass", "version", 1.5),
        row("amplifier --help, × import click", "click", "help", 1.2),
    ]


async def hook(event: str, data: dict[str, Any]) -> HookResult:
    """Says nothing."""
    return HookResult(action="continue")


async def fill_registry() -> None:
    """What a program with ten hooks and no session would do."""
    registry = HookRegistry()
    for number in range(10):
        registry.register("tool:pre", hook, name=f"hook-{number}")


async def open_session() -> None:
    """A session with the usual loop and context, as sub-agents and adapters open them."""
    await AmplifierSession(PLAN).initialize()


def main() -> None:
    """Measure and report."""
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as folder:
        # The environment may forbid to keep what was compiled, which no installed program does.
        kept = {name: one for name, one in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        rows = compare_starts({**kept, "PYTHONPYCACHEPREFIX": folder})
    what = "one more session in a process, × a registry with ten hooks"
    rows.append(compare(what, loop_of(fill_registry), loop_of(open_session)))
    report("Starting", rows)


if __name__ == "__main__":
    main()
