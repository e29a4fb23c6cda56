"""What starting costs: the import of the registry, the command line, and one more session.

Sessions of bundles are opened again and again in one process, as frameworks and servers do, in an
empty folder, in a project and in one with 300 folders. Their measure is the start of a Python.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import process_time
from typing import Any

from amplifier_core.hooks import HookRegistry
from amplifier_core.models import HookResult
from amplifier_core.session import AmplifierSession
from amplifier_hooks import load_bundle, open_session
from benchmarks.harness import Row, compare, loop_of, report

STARTS = 20
OPENINGS = 40
FOLDERS = 300
AT_MOST = 0.35
"""Three milliseconds, where a Python starts in eight and a half."""
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


async def open_bare_session() -> None:
    """A session with the usual loop and context, as sub-agents and adapters open them."""
    await AmplifierSession(PLAN).initialize()


HOOK = """
async def mount(coordinator, config=None):
    async def look(event, data):
        return None
    return coordinator.hooks.register("tool:pre", look)
"""
FIVE = """
inherit: false
session: {orchestrator: loop-basic, context: context-simple}
hooks: [./h1.py, ./h2.py, ./h3.py, ./h4.py, ./h5.py]
"""


def make_folders(place: Path) -> dict[str, Path]:
    """The three folders, with the default bundle or with one of five hooks."""
    found: dict[str, Path] = {}
    for bundle in ("default", "five"):
        for kind in ("empty", "project", "large"):
            folder = found[f"{bundle} {kind}"] = place / f"{bundle}-{kind}"
            folder.mkdir()
            if kind == "project":
                subprocess.run(["git", "init", "-q", str(folder)], check=True)
                (folder / "src").mkdir()
            for number in range(FOLDERS if kind == "large" else 0):
                (folder / f"part{number}").mkdir()
            if bundle == "five":
                (folder / "amplifier.yaml").write_text(FIVE)
                for number in range(1, 6):
                    (folder / f"h{number}.py").write_text(HOOK)
    return found


async def time_opening(folder: Path) -> float:
    """The processor time from the bundle's files to a session that can be used."""
    started = process_time()
    bundle = load_bundle(project_dir=folder)
    session = await open_session(bundle, working_dir=folder)
    spent = process_time() - started
    await session.cleanup()
    return spent


async def time_openings(folders: Mapping[str, Path]) -> dict[str, float]:
    """The best of each, in turns; the first turn imports."""
    turns = []
    gc.disable()
    try:
        for _ in range(1 + OPENINGS):
            await time_opening(next(iter(folders.values())))  # after a collection, all is cold
            turns.append({name: await time_opening(one) for name, one in folders.items()})
            gc.collect()
    finally:
        gc.enable()
    return {name: min(turn[name] for turn in turns[1:]) for name in folders}


def compare_openings(start: float, place: Path) -> list[Row]:
    """Against the start of a Python, and a large folder against an empty one."""
    # Whatever the person who measures has at home is no part of it, and no trail is.
    os.environ.update(HOME=str(place), XDG_CONFIG_HOME=str(place), XDG_DATA_HOME=str(place))
    (place / "amplifier").mkdir()
    (place / "amplifier" / "amplifier.yaml").write_text("audit: {enabled: false}\n")
    best = asyncio.run(time_openings(make_folders(place)))
    rows = []
    for bundle, what in (("default", "the default bundle"), ("five", "a bundle with five hooks")):
        empty, project, large = (best[f"{bundle} {kind}"] for kind in ("empty", "project", "large"))
        for cost, where in (
            (empty, "an empty folder"),
            (project, "a project"),
            (large, "300 folders"),
        ):
            name = f"opening {what} in {where}, × python -c pass"
            rows.append(Row(name, cost / start, AT_MOST, start * 1e6, cost * 1e6))
        name = f"opening {what}: 300 folders, × an empty one"
        rows.append(Row(name, large / empty, 1.1, empty * 1e6, large * 1e6))
    return rows


def main() -> None:
    """Measure and report."""
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as folder:
        # The environment may forbid to keep what was compiled, which no installed program does.
        kept = {name: one for name, one in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        rows = compare_starts({**kept, "PYTHONPYCACHEPREFIX": folder})
    what = "one more session in a process, × a registry with ten hooks"
    rows.append(compare(what, loop_of(fill_registry), loop_of(open_bare_session)))
    start = next(row for row in rows if row.what.endswith("python -c pass")).baseline_us / 1e6
    with tempfile.TemporaryDirectory() as folder:
        rows += compare_openings(start, Path(folder).resolve())
    report("Starting", rows)


if __name__ == "__main__":
    main()
