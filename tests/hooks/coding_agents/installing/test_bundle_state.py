"""Which bundle stands behind a guard, and whether somebody has trusted it."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_hooks.agent.bundles import BundleError
from amplifier_hooks.coding_agents.installing.bundle_state import read_bundle_state
from tests.support.trust import trust_project


def test_a_bundle_of_the_folder_must_be_trusted(home: Path) -> None:
    """With everything that it runs; the packaged one is ours, a broken one is an error."""
    state = read_bundle_state(None, home)
    assert (state.trusted, state.sources) == (True, [])
    bundle = home / "amplifier.yaml"
    bundle.write_text("name: mine\n")
    state = read_bundle_state(None, home)
    assert not state.trusted
    assert state.sources == [str(bundle)]
    trust_project(home)
    assert read_bundle_state(None, home).trusted
    bundle.write_text("hooks: 1\n")
    with pytest.raises(BundleError):
        read_bundle_state(None, home)


def test_a_named_bundle_is_trusted_where_it_lies(home: Path) -> None:
    """For every folder that the agent may work in, instead of the folder's own."""
    (home / "amplifier.yaml").write_text("name: mine\n")
    (home / "strict").mkdir()
    bundle = home / "strict" / "b.yaml"
    bundle.write_text("name: strict\n")
    state = read_bundle_state(bundle, home)
    assert (state.trusted, state.sources) == (False, [str(bundle)])
    assert state.where_it_lies is not None
    assert state.where_it_lies.folder == bundle.parent
    trust_project(bundle.parent, bundle)
    assert read_bundle_state(bundle, home).trusted
