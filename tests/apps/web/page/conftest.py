"""A browser for each file of tests, a server for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.apps.web.page.browser import People, launch
from tests.apps.web.page.running_server import RunningServer


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests of a file."""
    with launch() as browser:
        yield browser


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    """A running server with an empty store."""
    server = RunningServer(tmp_path)
    try:
        yield server
    finally:
        server.close()


@pytest.fixture
def people(browser: Browser, server: RunningServer) -> Iterator[People]:
    """Whoever opens the page; nothing may go wrong in their browsers."""
    people = People(browser, server)
    yield people
    for context in browser.contexts:
        context.close()
    assert people.errors == []
