"""Refuses to be imported beside the compiled engine of another distribution, amplifier-core.

pip installs one over the other without a word. Then some modules of this package are ours and some
are not, so those that the other's `__init__` may reach first import this one too.
"""

from __future__ import annotations

from pathlib import Path


def refuse_engine(package: Path) -> None:
    """ImportError if the package is mixed with the other."""
    for engine in package.glob("_engine*"):
        raise ImportError(
            f"{engine} belongs to another distribution, amplifier-core, which is mixed with "
            "amplifier-hooks in this environment: use an environment of its own for each, or "
            "uninstall both and install amplifier-hooks again"
        )


refuse_engine(Path(__file__).parent)
