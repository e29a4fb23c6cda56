"""A pytest plugin with which several processes share out test files.

    python -m pytest -p tests.support.sharing --claims FOLDER tests/hooks tests/audit

Each process takes the next file that no other has taken, imports it and runs its tests, until none
is left. FOLDER holds a mark for every file that was taken; all processes name the same one.
"""

from __future__ import annotations

import gc
import itertools
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

GARBAGE = (10_000, 20, 20)
FILES = pytest.StashKey[list[Any]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The folder that the processes share."""
    parser.addoption("--claims", type=Path, required=True)


def pytest_configure(config: pytest.Config) -> None:
    """Name the files one by one, so that each can be left to another process."""
    paths = [found for argument in config.args for found in list_paths(Path(argument))]
    config.args[:] = [str(path) for path in paths]


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> bool:
    """Find the files, but import none: most of them another process will take."""
    option = session.config.option
    shuffles, option.randomly_reorganize = getattr(option, "randomly_reorganize", False), False
    session.perform_collect(genitems=False)
    option.randomly_reorganize = shuffles  # the tests of a file, not the files
    return True


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(
    session: pytest.Session, items: list[Any]
) -> Generator[None, None, None]:
    """The first time these are the files, which are no tests to other plugins."""
    if FILES not in session.stash:
        session.stash[FILES] = items[:]
        items.clear()
    yield


def pytest_runtestloop(session: pytest.Session) -> bool:
    """Take a file, collect its tests, run them, and again."""
    files, count = session.stash[FILES], 0
    look_less_for_garbage()
    for file in files:
        if not claim(file.nodeid, session.config.getoption("claims")):
            continue
        with keeping_bytecode():
            session.items = list(session.genitems(file))
        session.config.hook.pytest_collection_modifyitems(
            session=session, config=session.config, items=session.items
        )
        count += len(session.items)
        if session.items:
            write_name(session.config, file)
            run_items(session)
    session.testscollected = count
    return True


@contextmanager
def keeping_bytecode() -> Iterator[None]:
    """Files of tests are compiled in a way of pytest's own: once, whatever the environment says."""
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, False
    try:
        yield
    finally:
        sys.dont_write_bytecode = before


def look_less_for_garbage() -> None:
    """Pytest and its plugins stay, and a search through all the rest takes long."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GARBAGE)


def write_name(config: pytest.Config, file: pytest.Collector) -> None:
    """A line for the file, which its dots follow."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    reporter.write_line("")
    reporter.write(f"{file.nodeid} ")


def run_items(session: pytest.Session) -> None:
    """As pytest does."""
    for item, following in itertools.pairwise([*session.items, None]):
        session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)


def list_paths(path: Path) -> list[Path]:
    """The test files in a place: the same list in every process."""
    conftest = path / "conftest.py"
    if conftest.is_file() and "collect_ignore" in conftest.read_text(encoding="utf-8"):
        return [path]  # asked for by name, what it leaves out would be collected
    return [path] if path.is_file() else sorted(path.rglob("test_*.py"))


def claim(name: str, folder: Path) -> bool:
    """Whether nobody else has taken it."""
    try:
        (folder / name.replace("/", "+")).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True
