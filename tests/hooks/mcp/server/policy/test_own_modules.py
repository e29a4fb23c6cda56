"""Which modules are ours, as the loader would find them."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from amplifier_core.mount_plan import ModuleEntry
from amplifier_hooks.mcp.server.policy.own_modules import OwnModules


def test_a_module_of_ours_is_ours() -> None:
    """One that nobody has installed is not, nor one of another kind of id."""
    own = OwnModules()
    assert own.include(ModuleEntry(module="hooks-rules"))
    assert not own.include(ModuleEntry(module="hooks-not-there"))
    assert not own.include(ModuleEntry(module="./hooks-rules"))


def test_one_with_a_source_is_what_its_author_made() -> None:
    """Whatever id it has."""
    assert not OwnModules().include(ModuleEntry(module="hooks-rules", source="./mine.py"))


def test_another_of_the_same_id_comes_before_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the search paths, or as a package."""
    (tmp_path / "amplifier-module-hooks-rules").mkdir()
    monkeypatch.setenv("AMPLIFIER_MODULES", str(tmp_path))
    assert not OwnModules().include(ModuleEntry(module="hooks-rules"))
    monkeypatch.delenv("AMPLIFIER_MODULES")
    name = "amplifier_module_hooks_command_guard"
    monkeypatch.setitem(sys.modules, name, ModuleType(name))
    assert not OwnModules().include(ModuleEntry(module="hooks-command-guard"))
