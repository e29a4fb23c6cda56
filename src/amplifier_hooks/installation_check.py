"""Whether another project's kernel has overwritten ours, which pip does without a word.

The distribution `amplifier-core` of the existing ecosystem has a package of the same name. This
file does not import it, because importing what is mixed fails.
"""

from __future__ import annotations

import sys
from importlib import util
from pathlib import Path

_OURS = "+hooks"  # part of the version of an `amplifier-core` that is built from this project


def find_clash() -> str | None:
    """One sentence about what is mixed and what to do; None if the kernel is our own."""
    folder = _locate("amplifier_core")
    if folder is None or not _is_overwritten(folder):
        return None
    return (
        f"{folder} has files of another distribution, amplifier-core, mixed with those of "
        "amplifier-hooks, and neither works: use an environment of its own for each, or "
        f"run `{sys.executable} -m pip uninstall amplifier-core amplifier-hooks` and install "
        "amplifier-hooks again (modules that depend on it: `pip install --no-deps`)"
    )


def _locate(package: str) -> Path | None:
    found = util.find_spec(package)
    places = found.submodule_search_locations if found is not None else None
    return Path(next(iter(places))) if places else None


def _is_overwritten(folder: Path) -> bool:
    if any(folder.glob("_engine*")):  # the compiled part of the other amplifier_core
        return True
    installed = folder.parent.glob(f"{folder.name}-*.dist-info")
    return any(_OURS not in one.name for one in installed)
