"""The site that `make docs` builds of the pages: its navigation, its links, its sources."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path, PurePosixPath

import pytest

from scripts.documentation.links import list_faults
from scripts.documentation.navigation import list_pages, read_navigation
from scripts.documentation.places import find_place
from scripts.documentation.sources import write_sources
from scripts.documentation.staging import fit_links, list_files, stage_pages

ROOT = Path(__file__).resolve().parents[2]
PAGES = [path for path in list_files(ROOT) if path.suffix == ".md"]
ITEM = re.compile(r"([-*]|\d+\.) ")
PART_OF_LIST = re.compile(r"\s*([-*]|\d+\.) |\s+\S")
NESTED_TOO_LITTLE = re.compile(r" {1,3}([-*]|\d+\.) ")
INDEX = """\
# Documentation

| | |
|---|---|
| [Not in a section](elsewhere.md) | |

## Start

| page | what it covers |
|---|---|
| [First](first.md) | see also [a part of it](first.md#part) |
| [Second](second.md) | [its child](second/child.md), [first](first.md), [site](https://a.test) |
| [Readme](../README.md) | |
| [A program](../scripts/docs) | |

## Recipes

| page | what it covers |
|---|---|
| [Recipes](recipes/index.md) | such as [one](recipes/one.md) |

## Words only

Nothing to see here.

## Modules

| | |
|---|---|
| Guards | [`rules`](modules/rules.md), [shell](modules/shell.md) |
"""


def test_the_navigation_is_that_of_the_index() -> None:
    """Sections, pages, pages below a page, groups; each page and each name once."""
    assert read_navigation(INDEX) == [
        {"Overview": "index.md"},
        {
            "Start": [
                {"First": "first.md"},
                {"Second": ["second.md", {"its child": "second/child.md"}]},
                {"Readme": "project/readme.md"},
            ]
        },
        {"Recipes": ["recipes/index.md", {"one": "recipes/one.md"}]},
        {"Modules": [{"Guards": [{"rules": "modules/rules.md"}, {"shell": "modules/shell.md"}]}]},
    ]


def test_every_page_is_in_the_navigation_once() -> None:
    """Whoever adds a page adds it to docs/index.md as well."""
    listed = list(list_pages(read_navigation((ROOT / "docs" / "index.md").read_text())))
    pages = {path: find_place(path) for path in list_files(ROOT) if path.suffix == ".md"}
    of_docs = {place for path, place in pages.items() if path.parts[0] == "docs"}
    assert of_docs - set(listed) == set()
    assert set(listed) - set(pages.values()) == set()
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("docs/modules/loops.md", "modules/loops.md"),
        ("docs/../ARCHITECTURE.md", "project/architecture.md"),
        ("examples/hooks/README.md", "examples/hooks/readme.md"),
        ("examples/hooks/write_a_log.py", "source/examples/hooks/write_a_log.py.html"),
        ("docs", "source/docs.html"),
    ],
)
def test_every_file_has_its_place_on_the_site(path: str, place: str) -> None:
    """What is no page is shown as a source."""
    assert find_place(PurePosixPath(path)) == place


def test_links_are_fitted_and_code_is_left_alone() -> None:
    """Links to pages, to what is outside of docs/, to headings and to other hosts."""
    text = (
        "[a](../index.md#top) [b](../../README.md) [`c`](../../src/x/y.py#L3) [d](#here) "
        "[e](https://example.org/a.md) `[f](../../README.md)`\n"
        "```\n[g](../../README.md)\n```\n![h](../images/i.png)\n"
    )
    fitted, sources = fit_links(text, PurePosixPath("docs/modules/loops.md"))
    assert fitted == (
        "[a](../index.md#top) [b](../project/readme.md) [`c`](../source/src/x/y.py.html#L3) "
        "[d](#here) [e](https://example.org/a.md) `[f](../../README.md)`\n"
        "```\n[g](../../README.md)\n```\n![h](../images/i.png)\n"
    )
    assert sources == {PurePosixPath("src/x/y.py")}


def test_a_bar_in_the_code_of_a_cell_loses_its_backslash() -> None:
    """A code host needs it there; the site would show it."""
    text = "| `a \\| b` | c \\| d |\n\nBut `a \\| b` stays.\n"
    fitted, _ = fit_links(text, PurePosixPath("docs/events.md"))
    assert fitted == "| `a | b` | c \\| d |\n\nBut `a \\| b` stays.\n"


def test_pages_are_staged_with_their_pictures_and_without_programs(tmp_path: Path) -> None:
    """The README becomes a page; what a page links to is reported."""
    for name in ("README.md", "ARCHITECTURE.md", "CHANGELOG.md"):
        (tmp_path / name).write_text(f"# {name}\n")
    docs = tmp_path / "docs"
    (docs / "images").mkdir(parents=True)
    (docs / "images" / "one.png").write_bytes(b"\x89")
    (docs / "run.py").write_text("print()\n")
    (docs / "index.md").write_text("[readme](../README.md) [run](run.py) [tests](../tests)\n")
    sources = stage_pages(tmp_path, tmp_path / "stage")
    staged = {
        path.relative_to(tmp_path / "stage").as_posix()
        for path in (tmp_path / "stage").rglob("*.*")
    }
    assert staged == {
        "index.md",
        "images/one.png",
        "project/readme.md",
        "project/architecture.md",
        "project/changelog.md",
    }
    assert sources == {PurePosixPath("docs/run.py"), PurePosixPath("tests")}


def test_a_source_has_an_address_for_every_line(tmp_path: Path) -> None:
    """Those of a code host, with every sign of HTML escaped."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.py").write_text('\nif 1 < 2:\n    print("<b>")\n')
    paths = [PurePosixPath("folder"), PurePosixPath("folder/a.py")]
    write_sources(tmp_path, paths, tmp_path / "site")
    page = (tmp_path / "site" / "source" / "folder" / "a.py.html").read_text()
    assert all(f'id="L{number}"' in page for number in (1, 2, 3))
    assert 'id="L4"' not in page
    assert "<b>" not in page
    assert "<code>a.py</code>" in (tmp_path / "site" / "source" / "folder.html").read_text()
    (tmp_path / "site" / "index.html").write_text("")
    assert list_faults(tmp_path / "site") == []


def test_broken_links_and_files_of_other_hosts_are_found(tmp_path: Path) -> None:
    """Each in a sentence that names the page; what only names an address is harmless."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "index.html").write_text('<h1 id="one">One</h1><a href="../b.html">b</a>')
    (tmp_path / "b.html").write_text(
        '<link rel="canonical" href="https://example.org/b"><a href="https://example.org">ok</a>'
        '<a href="a/#one"></a><a href="/a/index.html#one"></a><a href="#nowhere"></a>'
        '<a href="a/#two"></a><a href="c.html"></a><img src="gone.png">'
        '<script src="//cdn.example.org/x.js"></script>'
    )
    assert list_faults(tmp_path) == [
        "b.html: loads //cdn.example.org/x.js from another host",
        "b.html: links to gone.png, which does not exist",
        "b.html: links to #nowhere, and there is no such heading",
        "b.html: links to a/#two, and there is no such heading",
        "b.html: links to c.html, which does not exist",
    ]


def find_unseen_lists(text: str) -> list[str]:
    """The first lines of lists that the site would take for words."""
    lines = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE).splitlines()
    return [
        line
        for before, line in pairwise(["", *lines])
        if (ITEM.match(line) and before.strip() and not PART_OF_LIST.match(before))
        or NESTED_TOO_LITTLE.match(line)
    ]


@pytest.mark.parametrize("path", PAGES, ids=str)
def test_a_page_reads_alike_on_the_site_and_on_a_code_host(path: PurePosixPath) -> None:
    """The site wants an empty line before a list, and four spaces before one inside a list."""
    assert find_unseen_lists((ROOT / path).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("text", "unseen"),
    [
        ("words\n- item", ["- item"]),
        ("words\n\n- item\n- item\n  more\n- item", []),
        ("- item\n  - inside", ["  - inside"]),
        ("- item\n    - inside", []),
        ("1. item\n2. item", []),
        ("words\n\n```\nwords\n- no item\n```", []),
    ],
)
def test_a_list_that_the_site_would_not_see_is_found(text: str, unseen: list[str]) -> None:
    """A code host is more generous."""
    assert find_unseen_lists(text) == unseen
