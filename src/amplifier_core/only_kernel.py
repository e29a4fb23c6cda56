"""Refuses to be imported among files of another project's kernel of the same name.

pip keeps one `amplifier-core` in an environment, but files of two can be there all the same. Then
some modules are ours and some are not, so those that the other's `__init__` may import first import
this one too.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

_OUR_LABEL = "+hooks"  # part of the version of every amplifier-core that is built from this project


def find_foreign_file(package: Path) -> Path | None:
    """A compiled engine in the package, or the metadata of another `amplifier-core` beside it."""
    for name in os.listdir(package):  # noqa: PTH208 - it runs at every start; Paths take longer
        if name.startswith("_engine"):
            return package / name
    for name in os.listdir(package.parent):  # noqa: PTH208
        is_metadata = name.startswith(f"{package.name}-") and name.endswith(".dist-info")
        if is_metadata and _OUR_LABEL not in name:
            return package.parent / name
    return None


def refuse_foreign_files(package: Path) -> None:
    """ImportError if the package is mixed with the other; its message says what to do."""
    if found := find_foreign_file(package):
        raise ImportError(
            f"{found} belongs to another distribution, amplifier-core, which is mixed with "
            "amplifier-hooks in this environment: use an environment of its own for each, or run "
            f"`{sys.executable} -m pip uninstall amplifier-core amplifier-audit amplifier-hooks` "
            "and install amplifier-hooks again, as docs/installing.md says"
        )


refuse_foreign_files(Path(__file__).parent)
