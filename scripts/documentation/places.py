"""Where a file of the repository is on the site."""

from __future__ import annotations

import posixpath
from pathlib import PurePosixPath

DOCS = PurePosixPath("docs")
EXAMPLES = PurePosixPath("examples")
PROGRAMS = {".py", ".lock", ".toml"}
OF_THE_PROJECT = {
    "README.md": "project/readme.md",
    "ARCHITECTURE.md": "project/architecture.md",
    "CHANGELOG.md": "project/changelog.md",
}


def find_place(path: PurePosixPath) -> str:
    """The page of a Markdown file, a picture as it is, and a page with the source of all else."""
    path = PurePosixPath(posixpath.normpath(path))
    if str(path) in OF_THE_PROJECT:
        return OF_THE_PROJECT[str(path)]
    if path.is_relative_to(DOCS) and path != DOCS and path.suffix not in PROGRAMS:
        return str(path.relative_to(DOCS))
    if path.is_relative_to(EXAMPLES) and path.name == "README.md":
        return str(path.with_name("readme.md"))  # an index would become that of its section
    return f"source/{path}.html"


def is_source(place: str) -> bool:
    """Whether the site has to show the file itself there."""
    return place.startswith("source/")
