"""`profile`: one word at the top of a bundle, for every guard that has the option."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.agent.bundles import BundleError, load_bundle
from amplifier_hooks.agent.trust.comparison import _CONFIGS, _find
from amplifier_hooks.guards.policy.profile import PROFILED_GUARDS

GUARD = "hooks-command-guard"


def read_config(folder: Path, text: str) -> dict[str, Any]:
    (folder / "amplifier.yaml").write_text(text)
    plan = load_bundle(project_dir=folder).mount_plan
    config: dict[str, Any] = next(
        one.get("config", {}) for one in plan["hooks"] if one["module"] == GUARD
    )
    return config


def test_the_word_goes_to_the_guard(tmp_path: Path) -> None:
    assert read_config(tmp_path, "profile: strict\n") == {"profile": "strict"}
    assert read_config(tmp_path, "name: x\n") == {}


def test_a_guards_own_profile_stays(tmp_path: Path) -> None:
    own = f"hooks:\n  - {{module: {GUARD}, config: {{profile: careful, ask: [make]}}}}\n"
    found = read_config(tmp_path, f"profile: strict\n{own}")
    assert found == {"profile": "careful", "ask": ["make"]}


def test_another_word_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="profile"):
        read_config(tmp_path, "profile: quiet\n")


def test_the_profile_beside_a_locked_guard_is_locked(tmp_path: Path) -> None:
    locked = f"hooks:\n  - {{module: {GUARD}, locked: true}}\n"
    (tmp_path / "base.yaml").write_text(f"profile: strict\n{locked}")
    with pytest.raises(BundleError, match="locked"):
        read_config(tmp_path, "include: base.yaml\nprofile: calm\n")
    assert read_config(tmp_path, "include: base.yaml\n")["profile"] == "strict"


def test_every_guard_with_the_option_is_known() -> None:
    """A guard of ours that gets the option must get the word of the bundle, too."""
    found = {
        module
        for module, (place, _) in _CONFIGS.items()
        if "profile" in _find(f"{place}:Config").model_fields
    }
    assert found == PROFILED_GUARDS
