"""The agent frameworks that are installed here, and what hooks see of each."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from amplifier_hooks.cli.commands.finding import Finding

SECTION = "Frameworks"


def check_frameworks() -> Iterator[Finding]:
    """Each that is installed: where hooks decide, and what happens without them."""
    from amplifier_hooks.coverage.tables import list_coverage

    every = list_coverage()
    none = True
    for one in every:
        try:
            installed = version(one.package)
        except PackageNotFoundError:
            continue
        none = False
        yield Finding(SECTION, f"{one.framework} {installed}", "good", one.attach)
        yield Finding(SECTION, "  hooks decide at", "good", ", ".join(one.list_decided()))
        for unseen in one.unseen:
            yield Finding(SECTION, "  not seen", "absent", unseen)
    if none:
        names = ", ".join(one.framework for one in every)
        yield Finding(SECTION, "none", "absent", f"with an adapter: {names}")
