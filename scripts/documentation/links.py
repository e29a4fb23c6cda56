"""Checks a site that was built: every link leads somewhere, and nothing comes from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
"""What a browser fetches by itself, without a click."""
HARMLESS = {"canonical", "alternate", "prev", "next"}
"""Kinds of `<link>` that name an address and load nothing."""


_TAG = re.compile(r"<(a|img|script|iframe|source|link)\s([^>]*)>")
_ATTRIBUTE = re.compile(r"""([\w-]+)=(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
_ANCHOR = re.compile(r"""<[^>]*\s(?:id|name)=["']?([^\s"'>]+)""")


@dataclass
class Page:
    """What a page links to, what it loads, and the places in it that can be linked to.

    A parser of HTML would take ten times as long, and the pages are our own.
    """

    path: Path
    anchors: set[str] = field(init=False)
    links: set[str] = field(default_factory=set)
    loaded: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        text = self.path.read_text(encoding="utf-8")
        self.anchors = {unescape(one) for one in _ANCHOR.findall(text)}
        for tag, attributes in set(_TAG.findall(text)):
            self._read_tag(tag, _read_attributes(attributes))

    def _read_tag(self, tag: str, given: dict[str, str]) -> None:
        if tag == "a" and "href" in given:
            self.links.add(given["href"])
        loads = tag != "link" or not HARMLESS & set(given.get("rel", "").split())
        if loads and (address := given.get(LOADED.get(tag, ""))):
            self.loaded.add(address)


def _read_attributes(text: str) -> dict[str, str]:
    return {name: unescape("".join(values)) for name, *values in _ATTRIBUTE.findall(text)}


def list_faults(site: Path) -> list[str]:
    """One sentence for each link that is broken and each file that comes from another host."""
    pages = {path.resolve(): Page(path) for path in sorted(site.rglob("*.html"))}
    return [
        f"{page.path.relative_to(site)}: {fault}"
        for page in pages.values()
        for fault in _list_faults(page, pages, site.resolve())
    ]


def _list_faults(page: Page, pages: dict[Path, Page], site: Path) -> Iterator[str]:
    for address in sorted(page.loaded):
        if urlsplit(address).netloc:
            yield f"loads {address} from another host"
        elif fault := _find_fault(address, page, pages, site):
            yield fault
    for address in sorted(page.links):
        if fault := _find_fault(address, page, pages, site):
            yield fault


def _find_fault(address: str, page: Page, pages: dict[Path, Page], site: Path) -> str:
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return ""
    start = site if parts.path.startswith("/") else page.path.resolve().parent
    target = (
        (start / unquote(parts.path).lstrip("/")).resolve() if parts.path else page.path.resolve()
    )
    if target.is_dir():
        target /= "index.html"
    if not target.is_file():
        return f"links to {address}, which does not exist"
    anchor = unquote(parts.fragment)
    if anchor and target in pages and anchor not in pages[target].anchors:
        return f"links to {address}, and there is no such heading"
    return ""
