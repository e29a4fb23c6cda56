"""Which heads are refused."""

from __future__ import annotations

import pytest

from amplifier_apps.web.guard.head import Head
from amplifier_apps.web.guard.head_rules import HeadRules

RULES = HeadRules(frozenset({"a.test"}), frozenset({"https://a.test"}))


def judge(method: str = "GET", path: str = "/api/v1/me", host: str = "a.test", **headers: str):
    given = [("host", host), *((k.replace("_", "-"), v) for k, v in headers.items())]
    refusal = RULES.find_refusal(Head("http", method, path, "", tuple(given)))
    return refusal and (refusal.status, refusal.code)


def test_a_plain_request_passes():
    """From a program, from our page, and from a link that somebody clicked."""
    assert judge() is None
    assert judge(origin="https://a.test", sec_fetch_site="same-origin") is None
    assert judge(path="/approvals/1", sec_fetch_site="cross-site") is None
    assert judge("POST", content_type="application/json; charset=utf-8") is None
    assert judge("POST") is None


@pytest.mark.parametrize("host", ["b.test", "A.TEST", "a.test.", "a.test:80", "", "a.test, b.test"])
def test_another_host_is_refused(host: str):
    """DNS rebinding: Host header list on every request."""
    assert judge(host=host) == (400, "host")


@pytest.mark.parametrize(
    "origin", ["null", "", "https://A.test", "https://a.test/", "http://a.test"]
)
def test_another_origin_is_refused(origin: str):
    """Exact Origin list."""
    assert judge(origin=origin) == (403, "origin")


@pytest.mark.parametrize("path", ["http://a.test/api", "//evil/api", "*", "", "/a\0"])
def test_a_target_that_is_no_path_is_refused(path: str):
    """Absolute forms carry a host of their own."""
    assert judge(path=path) == (400, "target")


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "TRACE", "get"])
def test_other_methods_are_refused(method: str):
    """There are GET, HEAD and POST."""
    assert judge(method) == (405, "method")


def test_a_body_whose_length_is_stated_twice_is_refused():
    """One request hidden in another."""
    assert judge("POST", content_length="5", transfer_encoding="chunked") == (400, "framing")


@pytest.mark.parametrize("site", ["cross-site", "same-site", "SAME-ORIGIN", ""])
def test_the_api_answers_no_other_site(site: str):
    """What the browser says of the request counts, too."""
    assert judge(sec_fetch_site=site) == (403, "origin")


def test_frames_and_prefetching_are_refused():
    """Link previews and clickjacking."""
    assert judge(path="/", sec_fetch_dest="iframe") == (403, "frame")
    assert judge(sec_purpose="prefetch;prerender") == (403, "prefetch")
    assert judge(path="/", sec_purpose="prefetch") is None


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""]
)
def test_a_post_must_be_json(kind: str):
    """A form of another page can send anything but that."""
    assert judge("POST", content_type=kind) == (415, "content_type")
    assert judge("POST", content_length="2") == (415, "content_type")
    assert judge("POST", transfer_encoding="chunked") == (415, "content_type")
