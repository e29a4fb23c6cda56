"""The navigation of the site, read from docs/index.md: its sections and the links in their tables.

A row whose first cell is a link is a page, and further links in it are pages below that one. A row
whose first cell is a plain name is a group of the pages that the row links to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from scripts.documentation.places import find_place

Entry = dict[str, Any]
"""One entry as the site's settings want it: a title, with a page or with entries below it."""

_SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")
_ROW = re.compile(r"^\| *(.*?) *\|(.*)\|$", re.MULTILINE)


def read_navigation(index: str) -> list[Entry]:
    """The entries, in the order of the index; a page that it names again is listed once."""
    seen: set[str] = {"index.md"}
    entries: list[Entry] = [{"Overview": "index.md"}]
    for title, text in _list_sections(index):
        below = [entry for row in _ROW.finditer(text) for entry in _read_row(row, seen)]
        if below:
            entries.append({title: list(_merge(title, below))})
    return entries


def _merge(title: str, below: list[Entry]) -> Iterator[Any]:
    """A group that is named like its section is the section."""
    for entry in below:
        pages = entry.get(title)
        yield from pages if isinstance(pages, list) else [entry]


def list_pages(entries: list[Any]) -> Iterator[str]:
    """Every page of the navigation, as often as it is there."""
    for entry in entries:
        if isinstance(entry, str):
            yield entry
            continue
        for value in entry.values():
            yield from [value] if isinstance(value, str) else list_pages(value)


def _list_sections(index: str) -> Iterator[tuple[str, str]]:
    parts = _SECTION.split(index)
    yield from zip(parts[1::2], parts[2::2], strict=True)


def _read_row(row: re.Match[str], seen: set[str]) -> Iterator[Entry]:
    first, rest = row[1], row[2]
    head = _LINK.match(first)
    pages = list(_list_links(first + rest, seen))
    if not pages:
        return
    if head is None:
        name = first.strip("* ")
        yield from [{name: pages}] if name else pages
    elif len(pages) == 1:
        yield pages[0]
    else:
        # The first page of a group without a title of its own is what a click on the group opens.
        yield {head[1]: [*pages[0].values(), *pages[1:]]}


def _list_links(text: str, seen: set[str]) -> Iterator[Entry]:
    for title, link in _LINK.findall(text):
        path, _, anchor = link.partition("#")
        page = find_place(PurePosixPath("docs") / path) if "://" not in link and path else ""
        if page.endswith(".md") and page not in seen and not anchor:
            seen.add(page)
            yield {title.replace("`", ""): page}
