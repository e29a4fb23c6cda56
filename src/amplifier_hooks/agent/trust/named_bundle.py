"""A bundle that is named by its path and used in many folders: trusted once, where it lies."""

from __future__ import annotations

from pathlib import Path

from amplifier_hooks.agent.bundles import load_bundle
from amplifier_hooks.agent.trust.material import Material, collect_material
from amplifier_hooks.agent.trust.store import TrustStore
from amplifier_hooks.machine.snapshot import normalize


def collect_where_it_lies(named: Path) -> Material:
    """What a bundle runs in its own folder; that is what people look at to trust it."""
    return collect_material(load_bundle(named, project_dir=named.parent), named.parent)


def is_trusted_by_name(material: Material, named: Path | None, store: TrustStore) -> bool:
    """Whether what would run was trusted: in its folder, or else where the named bundle lies.

    The latter holds for exactly the files that were trusted there. A file of the folder itself
    that the bundle would run as well is not one of them.
    """
    if store.is_trusted(material):
        return True
    if named is None:
        return False
    there = collect_where_it_lies(named)
    trusted = _list_contents(there)
    return store.is_trusted(there) and all(
        trusted.get(path) == content for path, content in _list_contents(material).items()
    )


def _list_contents(material: Material) -> dict[Path, bytes]:
    return {normalize(material.folder / name): one for name, one in material.files.items()}
