"""The installed servers, a machine to throw away for each test, and the table at the end."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mcp.servers import INSTALLED, SERVERS, Server
from tests.support.mcp.world import World

RESULTS = pytest.StashKey[list[tuple[str, str, str]]]()
HERE = Path(__file__).parent


# Not even collected by `make test`: the SDK takes two seconds to import.
collect_ignore_glob = [] if os.environ.get("AMPLIFIER_MCP") else ["test_*.py"]


def pytest_report_header() -> str:
    """Why there is nothing to run, where that is so."""
    return "" if os.environ.get("AMPLIFIER_MCP") else "tests/mcp is run by `make mcp`"


@pytest.fixture(autouse=True, scope="session")
def _installed() -> None:
    if not (INSTALLED / "installed.txt").is_file():
        pytest.fail("the MCP servers are not installed; `make mcp` installs them")


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """A machine whose person trusts the hook of these tests."""
    world = World(tmp_path)
    monkeypatch.setenv("HOME", str(world.home))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "AMPLIFIER_STORE"):
        monkeypatch.delenv(name, raising=False)
    world.write_bundle()
    return world


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Server:
    """The server that a test is about."""
    return SERVERS[request.param]


def pytest_configure(config: pytest.Config) -> None:
    config.stash[RESULTS] = []


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    outcome = yield
    report: pytest.TestReport = outcome.get_result()  # type: ignore[attr-defined]
    if HERE in item.path.parents and (report.when == "call" or report.failed):
        case, _, about = item.name.removesuffix("]").partition("[")
        words = case.removeprefix("test_").replace("_", " ")
        item.config.stash[RESULTS].append((about, words, report.outcome))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    results = terminalreporter.config.stash[RESULTS]
    rows = sorted(set(results))
    if not rows:
        return
    terminalreporter.section("real MCP servers")
    width = max(len(about) for about, _, _ in rows)
    for about, case, result in rows:
        terminalreporter.write_line(f"{about:{width}}  {result:6}  {case}")
