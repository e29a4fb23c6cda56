"""The bundle behind a guard: which one it is, and whether a person has trusted it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from amplifier_hooks.agent.bundles import load_bundle
from amplifier_hooks.agent.trust.material import Material, collect_material
from amplifier_hooks.agent.trust.store import TrustStore, collect_where_it_lies, is_trusted_by_name


@dataclass(frozen=True, slots=True)
class BundleState:
    """What a guard would run in a folder."""

    material: Material
    trusted: bool
    where_it_lies: Material | None = None
    """What a bundle that is named runs in its own folder, where it is trusted for all others."""

    @property
    def sources(self) -> list[str]:
        """The files that it is made of, without the packaged one; the nearest first."""
        packaged = Path(__file__).parents[2]
        found = map(Path, self.material.bundle.sources)
        return [str(one) for one in found if not one.is_relative_to(packaged)]


def read_bundle_state(bundle: Path | None, folder: Path) -> BundleState:
    """Read the bundle as a session in that folder does; BundleError if it is broken.

    A guard whose bundle is not trusted denies everything.
    """
    material = collect_material(load_bundle(bundle, project_dir=folder), folder)
    trusted = is_trusted_by_name(material, bundle, TrustStore())
    there = None if trusted or bundle is None else collect_where_it_lies(bundle)
    return BundleState(material, trusted, there)
