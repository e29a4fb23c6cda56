"""The page claims nothing that it has not been told: loading, empty and offline differ."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, WebSocketRoute, expect

from amplifier_hooks.approvals.models import SessionEntry
from tests.hooks.server.page.browser import People
from tests.hooks.server.page.questions import make_question
from tests.hooks.server.page.running_server import RunningServer

SCOPES = ("read", "decide", "admin")
NOTHING_WAITS = "All answered"
# Each view: its path, what it asks the API for, and what it says when there is nothing.
VIEWS = {
    "history": ("/approvals", "/approvals?", "Nothing that fits was found"),
    "sessions": ("/sessions", "/sessions", "No sessions"),
    "statistics": ("/statistics", "/statistics", "No figures yet"),
    "rules": ("/rules", "/rules", "No rules"),
    "access": ("/tokens", "/tokens", "There are no tokens"),
    "timeline": ("/sessions/empty-1", "/records", "Nothing has been recorded yet"),
    "transcript": ("/sessions/empty-1", "/transcript", "Nothing has been said yet"),
}


class Line:
    """The way to the server: answers of some routes wait, fail or come."""

    def __init__(self, page: Page, part: str) -> None:
        self.state = "held"
        self._held: list[Route] = []
        # Headless browsers say so in the console; it is no fault of the page.
        page.route(lambda url: "/api/v1" in url and part in url, self._take)

    def _take(self, route: Route) -> None:
        if self.state == "held":
            self._held.append(route)
        elif self.state == "cut":
            route.abort()
        else:
            route.continue_()

    def cut(self) -> None:
        """Let everything fail."""
        self.state = "cut"
        while self._held:
            self._held.pop().abort()

    def mend(self) -> None:
        """Let everything through."""
        self.state = "open"


@pytest.fixture
def forgiving(people: People) -> People:
    """People whose browsers may say that a request failed."""
    people.expected = (*people.expected, "net::ERR_FAILED", "503 (Service Unavailable)")
    return people


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_says_that_it_loads_then_why_it_cannot_and_only_then_that_there_is_nothing(
    forgiving: People, server: RunningServer, name: str
) -> None:
    """On a line that is slow, broken, and mended."""
    path, part, empty = VIEWS[name]
    if name in ("timeline", "transcript"):
        server.run(server.store.sessions.save(SessionEntry(id="empty-1", status="ended")))
    page = forgiving.log_in(scopes=SCOPES)
    line = Line(page, part)
    page.evaluate(
        "(path) => { history.pushState(null, '', path);"
        " window.dispatchEvent(new Event('routechange')); }",
        path,
    )
    if name == "transcript":
        page.get_by_role("tab", name="Transcript").click()
    nothing = page.get_by_text(empty)
    expect(page.get_by_text("Loading…")).to_be_visible()
    expect(nothing).to_have_count(0)
    line.cut()
    unknown = page.get_by_text(re.compile("^Not known|^Not all is known"))
    expect(unknown.first).to_be_visible()
    expect(page.get_by_text("The server cannot be reached").first).to_be_visible()
    expect(nothing).to_have_count(0)
    line.mend()
    if page.get_by_role("button", name="Try again").count():
        page.get_by_role("button", name="Try again").click()
    else:  # by itself, when the connection is back
        page.evaluate(
            "async () => (await import('/static/link/model.js')).model.live"
            ".dispatchEvent(new Event('state'))"
        )
    # Other tests may have left something in the store.
    expect(nothing.or_(page.locator("main .card, main .hook")).first).to_be_visible()
    expect(unknown).to_have_count(0)


def hold_socket(page: Page) -> Callable[[], None]:
    """Keep what the server says on the live connection, until it is let through."""
    held: list[str | bytes] = []
    waiting = [True]
    sockets: list[WebSocketRoute] = []

    def connect(socket: WebSocketRoute) -> None:
        sockets.append(socket)
        server = socket.connect_to_server()

        def pass_on(message: str | bytes) -> None:
            if waiting[0] and '"welcome"' not in str(message):
                held.append(message)
            else:
                socket.send(message)

        server.on_message(pass_on)

    page.route_web_socket("**/api/v1/live", connect)

    def release() -> None:
        waiting[0] = False
        for message in held:
            sockets[-1].send(message)

    return release


@pytest.mark.parametrize("waiting", [0, 1])
def test_the_inbox_is_empty_only_once_it_was_told_so(
    forgiving: People, server: RunningServer, waiting: int
) -> None:
    """Thousands of questions, or a slow line, take seconds until they are there."""
    for _ in range(waiting):
        server.ask(make_question())
    page = forgiving.open("/favicon.svg")
    release = hold_socket(page)
    page.goto(f"/#code={server.make_code()}")
    expect(page.locator("inbox-view")).to_be_visible()
    expect(page.get_by_text("Loading…")).to_be_visible()
    page.wait_for_timeout(500)
    expect(page.get_by_text(NOTHING_WAITS)).to_have_count(0)
    release()
    if waiting:
        expect(page.locator("dialog.approval[open]")).to_be_visible()
    expect(page.get_by_text(NOTHING_WAITS)).to_have_count(1 - waiting)
    expect(page.get_by_text("Loading…")).to_be_hidden()


def test_offline_the_inbox_does_not_say_that_nothing_waits(
    people: People, server: RunningServer
) -> None:
    """Nor while the server is there and its database is not."""
    page = people.log_in()
    expect(page.get_by_text(NOTHING_WAITS)).to_be_visible()
    server.run(tell_store(server, available=False))
    expect(page.get_by_text("the server's database does not answer")).to_be_visible()
    expect(page.get_by_text("What waits is not known")).to_be_visible()
    expect(page.get_by_text(NOTHING_WAITS)).to_have_count(0)
    server.run(tell_store(server, available=True))
    expect(page.get_by_text(NOTHING_WAITS)).to_be_visible()
    server.stop()
    try:
        expect(page.get_by_text("What waits is not known")).to_be_visible()
        expect(page.get_by_text(NOTHING_WAITS)).to_have_count(0)
    finally:
        server.start()
    page.get_by_role("button", name="Try now").click()
    expect(page.get_by_text(NOTHING_WAITS)).to_be_visible()


async def tell_store(server: RunningServer, *, available: bool) -> None:
    """As the server does when its database stops answering, or answers again."""
    server.services.hub.tell_store(available)
