"""The pages as the site wants them: copies, with links that lead to where things are there.

In the repository a page links to files outside of docs/ (the README, sources, tests), which a code
host shows and a site does not have.
"""

from __future__ import annotations

import posixpath
import re
import shutil
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from scripts.documentation.places import OF_THE_PROJECT, PROGRAMS, find_place, is_source

_CODE = re.compile(r"^(?P<fence>```+).*?^(?P=fence)[ \t]*$|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\(([^)\s]+)\)")


def stage_pages(root: Path, target: Path) -> set[PurePosixPath]:
    """Copy all pages and pictures; answers with the files whose source is linked to."""
    sources: set[PurePosixPath] = set()
    for path in list_files(root):
        place = target / find_place(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            text, linked = fit_links((root / path).read_text(encoding="utf-8"), path)
            place.write_text(text, encoding="utf-8")
            sources |= linked
        else:
            shutil.copyfile(root / path, place)
    return sources


def list_files(root: Path) -> Iterator[PurePosixPath]:
    """What is part of the site: all of docs/ but its programs, the examples' pages, the README."""
    yield from map(PurePosixPath, OF_THE_PROJECT)
    found = [*(root / "docs").rglob("*"), *(root / "examples").rglob("README.md")]
    for path in sorted(found):
        hidden = any(part.startswith((".", "__")) for part in path.relative_to(root).parts)
        if path.is_file() and not hidden and path.suffix not in PROGRAMS:
            yield PurePosixPath(path.relative_to(root).as_posix())


def fit_links(text: str, page: PurePosixPath) -> tuple[str, set[PurePosixPath]]:
    """The text with every link as the site needs it, and the files whose source it links to."""
    here, sources = PurePosixPath(find_place(page)).parent, set[PurePosixPath]()

    def fit(link: re.Match[str]) -> str:
        name, mark, anchor = link[1].partition("#")
        if "://" in name or not name or name.startswith("mailto:"):
            return link[0]
        path = PurePosixPath(posixpath.normpath(page.parent / name))
        place = find_place(path)
        if is_source(place):
            sources.add(path)
        return f"]({posixpath.relpath(place, here)}{mark}{anchor})"

    return "".join(_LINK.sub(fit, part) if prose else part for prose, part in _split(text)), sources


def _split(text: str) -> Iterator[tuple[bool, str]]:
    """The text in pieces; code is not prose."""
    at = 0
    for code in _CODE.finditer(text):
        yield True, text[at : code.start()]
        # A code host needs the backslash in the cell of a table, and the site would show it.
        in_table = text[text.rfind("\n", 0, code.start()) + 1 : code.start()].startswith("|")
        yield False, code[0].replace("\\|", "|") if in_table else code[0]
        at = code.end()
    yield True, text[at:]
