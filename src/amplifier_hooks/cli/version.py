"""The version of what is installed, told without importing what reads the facts of packages."""

from __future__ import annotations

import os
import sys

DISTRIBUTION = "amplifier-hooks"
_END = ".dist-info"


def find_version() -> str:
    """The number after the name of the folder that an installation leaves on the path."""
    start = DISTRIBUTION.replace("-", "_") + "-"
    for place in sys.path:
        found = [name for name in _list_names(place) if name.startswith(start)]
        versions = [name[len(start) : -len(_END)] for name in found if name.endswith(_END)]
        if len(versions) == 1 and versions[0]:
            return versions[0]
        if found:
            break
    from importlib.metadata import version

    return version(DISTRIBUTION)


def _list_names(place: str) -> list[str]:
    try:
        return os.listdir(place or ".")  # noqa: PTH208 - importing pathlib takes longer than this
    except OSError:
        return []
