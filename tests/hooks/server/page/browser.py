"""A real browser, and people who sit in front of it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    expect,
    sync_playwright,
)

from tests.hooks.server.page.running_server import RunningServer

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
# Browsers report every answer that is an error, also those that the page expects.
EXPECTED = (
    "401 (Unauthorized)",
    "404 (Not Found)",
    "409 (Conflict)",
    "ERR_CONNECTION_REFUSED",
    "WebSocket connection to",
)
PATIENCE = 30_000
NONE_FOUND = "There is no Chromium: scripts/ensure-chromium gets one, or says how to get one"


def find_chromium() -> str:
    """The path of a Chromium; tests are skipped where there is none."""
    wanted = [os.environ.get("CHROMIUM"), *NAMES]
    found = next((path for name in wanted if name and (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(NONE_FOUND)
    return found


@contextmanager
def launch() -> Iterator[Browser]:
    """A browser. While it runs, no other event loop can run in this thread."""
    path = find_chromium()
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


class People:
    """Opens pages, each in a browser profile of its own, and keeps what went wrong in them."""

    def __init__(self, browser: Browser, server: RunningServer) -> None:
        self._browser = browser
        self._server = server
        self._contexts: list[BrowserContext] = []
        self.errors: list[str] = []
        self.expected: tuple[str, ...] = EXPECTED

    def open(self, path: str = "/", **options: Any) -> Page:
        """A page of somebody who is not logged in."""
        options.setdefault("reduced_motion", "reduce")
        context = self._browser.new_context(base_url=self._server.url, **options)
        context.set_default_timeout(PATIENCE)
        self._contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self._keep_error)
        page.goto(path)
        return page

    def log_in(
        self,
        name: str = "ann",
        path: str = "/",
        scopes: Iterable[str] = ("read", "decide"),
        **options: Any,
    ) -> Page:
        """A page of somebody who has used a one-time code."""
        code = self._server.make_code(name, scopes)
        page = self.open(f"{path}#code={code}", **options)
        expect(page.locator("app-shell")).to_be_visible()
        return page

    def leave(self) -> None:
        """Close all that was opened."""
        for context in self._contexts:
            context.close()

    def _keep_error(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not any(one in message.text for one in self.expected):
            self.errors.append(message.text)
