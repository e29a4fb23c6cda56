"""The site as `make docs` builds it, in a real browser: it needs no network, and search works."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Literal

import pytest
from playwright.sync_api import ViewportSize, expect

from tests.hooks.server.page.browser import launch
from tests.support.scripts import load_script

ROOT = Path(__file__).resolve().parents[2]
OPEN_SEARCH = "label[for=__search]:visible, .md-search__button:visible"
SIZES: tuple[ViewportSize, ...] = ({"width": 1280, "height": 800}, {"width": 390, "height": 800})
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Nothing is written between the dots of pytest."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built once, in a folder of its own."""
    folder = tmp_path_factory.mktemp("site")
    script = load_script(ROOT / "scripts" / "docs")
    vars(script).update(STAGE=folder / "stage", SITE=folder / "site")
    assert script.main([]) == 0
    return folder / "site"


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """A plain static server, as anybody has one."""
    handler = partial(_Quiet, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def test_every_page_of_the_documentation_is_there(site: Path) -> None:
    """With those of the project, and sources that pages link to."""
    pages = (page.relative_to(ROOT / "docs") for page in (ROOT / "docs").rglob("*.md"))
    assert [str(page) for page in pages if not (site / page.with_suffix(".html")).is_file()] == []
    assert (site / "project" / "readme.html").is_file()
    assert (site / "source" / "src" / "amplifier_core" / "hooks.py.html").is_file()


def test_a_reader_without_a_network_finds_a_page_by_search(address: str) -> None:
    """Nothing is fetched from another host, on a wide screen and on a phone."""
    fetched: list[str] = []
    with launch() as browser:
        for size in SIZES:
            page = browser.new_page(viewport=size)
            page.on("request", lambda request: fetched.append(request.url))
            page.goto(f"{address}index.html")
            page.locator(OPEN_SEARCH).first.click()
            page.get_by_role("combobox").fill("production guard")
            expect(page.get_by_role("option").first).to_contain_text("production")
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            page.close()
    assert [one for one in fetched if not one.startswith((address, "data:", "blob:"))] == []


@pytest.mark.parametrize(("scheme", "name"), [("light", "default"), ("dark", "slate")])
def test_the_colours_are_those_that_the_reader_prefers(
    address: str, scheme: Literal["light", "dark"], name: str
) -> None:
    """Also on the pages with sources, which have a style of their own."""
    style = "getComputedStyle(document.querySelector('header a')).color"
    with launch() as browser:
        page = browser.new_page(color_scheme=scheme)
        page.goto(f"{address}index.html")
        expect(page.locator("body")).to_have_attribute("data-md-color-scheme", name)
        page.goto(f"{address}source/src/amplifier_core/hooks.py.html#L12")
        expect(page.locator("#L12")).to_be_in_viewport()
        dark = page.evaluate(style) == "rgb(143, 176, 255)"
        assert dark == (scheme == "dark")
