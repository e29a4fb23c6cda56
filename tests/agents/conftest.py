"""The programs, a machine to throw away for each test, and the table at the end."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.agents.programs import PROGRAMS, Program
from tests.agents.world import World

ROOT = Path(__file__).parents[2]
RESULTS = pytest.StashKey[list[tuple[str, str, str]]]()


@pytest.fixture(scope="session")
def agents() -> Path:
    """The folder that the programs are installed in."""
    done = subprocess.run([ROOT / "scripts" / "agents"], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        pytest.fail("scripts/agents could not install the programs; it says why above")
    return Path(done.stdout.strip())


@pytest.fixture
def program(request: pytest.FixtureRequest) -> Program:
    """The agent that a test is about."""
    return PROGRAMS[request.param]


@pytest.fixture
async def bare_world(agents: Path) -> AsyncIterator[World]:
    """A machine without any agent and any hook."""
    world = World(agents)
    try:
        yield world
    finally:
        await world.close()


@pytest.fixture
def world(bare_world: World, program: Program) -> World:
    """A machine with the agent, and with our hook in front of it for this user."""
    bare_world.set_up(program)
    bare_world.write_bundle()
    bare_world.guard(program, "--user")
    return bare_world


def pytest_configure(config: pytest.Config) -> None:
    config.stash[RESULTS] = []


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    outcome = yield
    report: pytest.TestReport = outcome.get_result()  # type: ignore[attr-defined]
    if report.when == "call" or report.failed:
        case, _, program = item.name.removesuffix("]").partition("[")
        words = case.removeprefix("test_").replace("_", " ")
        item.config.stash[RESULTS].append((program, words, report.outcome))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    results = terminalreporter.config.stash[RESULTS]
    rows = sorted(set(results))
    if not rows:
        return
    terminalreporter.section("the real agents")
    width = max(len(program) for program, _, _ in rows)
    for program, case, result in rows:
        terminalreporter.write_line(f"{program:{width}}  {result:6}  {case}")
