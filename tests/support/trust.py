"""Trust, as a person at a terminal gives it: by looking at a folder and allowing what it runs."""

from __future__ import annotations

from pathlib import Path

from amplifier_hooks import load_bundle
from amplifier_hooks.agent.trust.material import Material, collect_material
from amplifier_hooks.agent.trust.store import Trusted, TrustStore


def look_at(folder: Path, bundle: Path | None = None) -> Material:
    """What the bundle of a folder, or this one, would run there."""
    return collect_material(load_bundle(bundle, project_dir=folder), folder)


def trust_project(folder: Path, bundle: Path | None = None) -> Trusted:
    """Allow what lies in a folder now, in the store of this test's home."""
    return TrustStore().trust(look_at(folder, bundle), "tester")
