"""A pytest plugin with which several processes share out test files.

    python -m pytest -p tests.support.sharing --claims FOLDER tests/apps tests/audit

Each process takes the next file that no other has taken, collects it and runs it, until none is
left. FOLDER holds a mark for every file that was taken; all processes name the same one.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

CLAIMS = pytest.StashKey[Iterator[Path]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The folder that the processes share."""
    parser.addoption("--claims", type=Path, required=True)


def pytest_configure(config: pytest.Config) -> None:
    """Leave pytest the first file to collect; the loop below goes on from there."""
    paths = [found for argument in config.args for found in list_paths(Path(argument))]
    claimed = claim(paths, config.getoption("claims"))
    config.stash[CLAIMS] = claimed
    config.args[:] = [str(path) for path in itertools.islice(claimed, 1)]


def pytest_runtestloop(session: pytest.Session) -> bool:
    """Run what was collected, then collect what can be claimed, and again."""
    claimed = session.config.stash[CLAIMS]
    count = run_items(session)
    for path in claimed:
        session.perform_collect([str(path)])
        count += run_items(session)
    session.testscollected = count
    return True


def run_items(session: pytest.Session) -> int:
    """As pytest does, with a line for the file; returns how many there were."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if session.items:
        reporter.write_line("")
        reporter.write(f"{session.items[0].nodeid.partition('::')[0]} ")
    for item, following in itertools.pairwise([*session.items, None]):
        session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)
    return len(session.items)


def list_paths(path: Path) -> list[Path]:
    """The test files in a place: the same list in every process."""
    conftest = path / "conftest.py"
    if conftest.is_file() and "collect_ignore" in conftest.read_text(encoding="utf-8"):
        return [path]  # asked for by name, what it leaves out would be collected
    return [path] if path.is_file() else sorted(path.rglob("test_*.py"))


def claim(paths: list[Path], folder: Path) -> Iterator[Path]:
    """The paths that nobody else has taken, each when it is asked for."""
    for number, path in enumerate(paths):
        try:
            (folder / str(number)).touch(exist_ok=False)
        except FileExistsError:
            continue
        yield path
