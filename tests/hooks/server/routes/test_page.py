"""The page and its files."""

from __future__ import annotations

import pytest

from amplifier_hooks.server.routes.page import read_file
from tests.hooks.server.world import World


async def test_every_view_is_the_same_document_and_needs_no_credential(world: World):
    """The page logs in by itself; a link shows, and never decides."""
    async with world.client() as client:
        client.base_url = world.address
        pages = [await client.get(path) for path in ("/", "/approvals/1", "/sessions/a/b")]
        assert {page.status_code for page in pages} == {200}
        assert len({page.content for page in pages}) == 1
        assert pages[0].headers["content-type"] == "text/html; charset=utf-8"
        assert "script-src 'self'" in pages[0].headers["content-security-policy"]
        for path in ("/a.php", "/static/none.js", "/a/b/c/d", "/api", "/api/v2/me"):
            assert (await client.get(path)).status_code in (401, 404), path


async def test_a_file_that_has_not_changed_is_not_sent_again(world: World):
    """By its digest; after an upgrade everybody gets the new one."""
    async with world.client() as client:
        client.base_url = world.address
        first = await client.get("/favicon.svg")
        again = await client.get("/favicon.svg", headers={"If-None-Match": first.headers["etag"]})
        static = await client.get("/static/favicon.svg")
    assert first.headers["content-type"] == "image/svg+xml"
    assert (again.status_code, again.content) == (304, b"")
    assert static.content == first.content


@pytest.mark.parametrize(
    "path",
    ["../app.py", "../settings.py", "a/../../app.js", "", ".", "..", "kit//x.js", "..\\app.js"],
)
def test_there_is_no_way_out_of_the_pages_folder(path: str):
    """Only files of known kinds, below it."""
    assert read_file(path) is None


async def test_an_action_of_the_api_cannot_be_opened_like_a_page(world: World):
    """GET on a route that is only for POST is 405, not the page."""
    async with await world.person() as person:
        for path in ("/login", "/codes", "/approvals/1/decision"):
            answer = await person.get(path)
            assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
        assert (await person.get("/nothing")).status_code == 404
