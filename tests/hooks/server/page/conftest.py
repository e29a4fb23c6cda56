"""A browser, a server and a logged-in page for each file of tests."""

from __future__ import annotations

from collections.abc import Generator, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.hooks.server.page.browser import NONE_FOUND, People, launch
from tests.hooks.server.page.running_server import RunningServer

# Takes an open dialog away without waiting until it has said goodbye.
CLOSE = """() => document.querySelector("approval-dialog")?.dispatchEvent(
    new CustomEvent("done", { detail: "" }))"""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Say once, and not for each test, that there is no browser."""
    report = yield
    if report.skipped and NONE_FOUND in str(report.longrepr):
        report.longrepr = ("tests/hooks/server/page", 0, f"Skipped: {NONE_FOUND}")
    return report


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests of a file."""
    with launch() as browser:
        yield browser


@pytest.fixture(scope="module")
def server(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A running server with an empty store."""
    server = RunningServer(tmp_path_factory.mktemp("server"))
    try:
        yield server
    finally:
        server.close()


@pytest.fixture
def people(browser: Browser, server: RunningServer) -> Iterator[People]:
    """Whoever opens the page; nothing may go wrong in their browsers."""
    people = People(browser, server)
    yield people
    people.leave()
    server.withdraw_all()
    assert people.errors == []


@pytest.fixture(scope="module")
def desk(browser: Browser, server: RunningServer) -> Iterator[tuple[People, Page]]:
    """Ann, who stays logged in."""
    people = People(browser, server)
    yield people, people.log_in("ann", scopes=("read", "decide", "admin"))
    people.leave()


@pytest.fixture
def page(desk: tuple[People, Page], server: RunningServer) -> Iterator[Page]:
    """Ann's page, on the empty inbox; what other tests have asked was asked there as well."""
    people, page = desk
    tidy_up(page, server)
    yield page
    tidy_up(page, server)
    errors, people.errors = people.errors, []
    assert errors == []


def tidy_up(page: Page, server: RunningServer) -> None:
    """Take away what is asked, and begin with the inbox again."""
    server.withdraw_all()
    expect(page.locator("nav .count")).to_be_hidden()
    page.evaluate(CLOSE)
    page.evaluate("sessionStorage.clear()")
    page.get_by_role("link", name="Inbox").click()
    expect(page.locator("inbox-view")).to_be_visible()
