"""What modules there are, of which kind, without importing them."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from amplifier_core.loader import (
    TYPE_TO_MOUNT_POINT,
    ModuleLoader,
    describe_modules,
    guess_kind,
    read_facts,
)
from tests.core.module_files import write
from tests.support.modules import write_distribution, write_package


@pytest.mark.parametrize(
    ("module_id", "kind"),
    [
        ("my-orchestrator", "orchestrator"),
        ("loop-basic", "orchestrator"),
        ("provider-x", "provider"),
        ("tool-x", "tool"),
        ("hooks-x", "hook"),
        ("context-x", "context"),
        ("something", "tool"),
    ],
)
def test_the_kind_is_guessed_from_the_id(module_id: str, kind: str) -> None:
    """A tool if the id says nothing."""
    assert guess_kind(module_id) == kind


@pytest.mark.parametrize(
    "text",
    [
        '"""What it does.\n\nMore."""\n__amplifier_module_type__ = "hook"\nimport nothing\n',
        '"""What it does.\n\nMore."""\n__amplifier_module_type__: str = "hook"\nx, y = 1, 2\n',
    ],
)
def test_a_package_declares_its_kind_and_says_what_it_does(tmp_path: Path, text: str) -> None:
    """It is read, not imported."""
    facts = read_facts(write_package(tmp_path, "x", text))
    assert facts == {"type": "hook", "about": "What it does.\n\nMore."}


@pytest.mark.parametrize("text", ["syntax error here", "\0", None])
def test_what_cannot_be_read_says_nothing(tmp_path: Path, text: str | None) -> None:
    """Broken files and missing ones have no facts."""
    package = write_package(tmp_path, "x", text or "")
    if text is None:
        (package / "__init__.py").unlink()
    assert read_facts(package) == {}


def test_a_kind_that_is_computed_is_not_known() -> None:
    """Nor that of no package at all."""
    assert read_facts(None) == {"type": None, "about": None}


def test_installed_modules_are_described(site: Path) -> None:
    """By what their package declares, else by their id; one that cannot be found, too."""
    write_package(site, "declared", '"""Says so."""\n__amplifier_module_type__ = "provider"\n')
    write_package(site, "wrong", '__amplifier_module_type__ = "nonsense"\n')
    entries = {
        "declared": "amplifier_module_declared:mount",
        "wrong": "amplifier_module_wrong:mount",
        "hooks-gone": "amplifier_module_gone.part:mount",
        "hooks-away": "amplifier_module_away:mount",
    }
    write_distribution(site, "theirs", entries)
    known = ModuleLoader().known()
    found = describe_modules({one: known[one] for one in entries}, [], TYPE_TO_MOUNT_POINT)
    assert [(one.id, one.type, one.mount_point, one.description) for one in found] == [
        ("declared", "provider", "providers", "Says so."),
        ("wrong", "tool", "tools", "Module wrong"),
        ("hooks-gone", "hook", "hooks", "Module hooks-gone"),
        ("hooks-away", "hook", "hooks", "Module hooks-away"),
    ]
    assert {(one.name, one.version, one.config_schema) for one in found} == {
        (one, "1.2.3", None) for one in entries
    }
    assert "amplifier_module_declared" not in sys.modules


def test_a_package_that_is_imported_already_is_asked(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have computed what it declares."""
    module = ModuleType("amplifier_module_loaded", " Of this kind. ")
    module.__dict__["__amplifier_module_type__"] = "context"
    monkeypatch.setitem(sys.modules, "amplifier_module_loaded", module)
    write_distribution(site, "theirs", {"loaded": "amplifier_module_loaded:mount"})
    entry = ModuleLoader().known()["loaded"]
    (found,) = describe_modules({"loaded": entry}, [], TYPE_TO_MOUNT_POINT)
    assert (found.type, found.description) == ("context", "Of this kind.")


def test_modules_in_folders_come_after_the_installed_ones(site: Path, tmp_path: Path) -> None:
    """An id that is installed is not described twice."""
    write_distribution(site, "theirs", {"tool-a": "amplifier_module_tool_a:mount"})
    folders = []
    for module_id in ("tool-a", "my-loop"):
        folders.append(tmp_path / f"amplifier-module-{module_id}")
        write_package(folders[-1], module_id, '"""In a folder."""\n')
    write(folders[-1], "README.md", "")
    entries = {"tool-a": ModuleLoader().known()["tool-a"]}
    first, second = describe_modules(entries, folders, TYPE_TO_MOUNT_POINT)
    assert (first.id, first.version) == ("tool-a", "1.2.3")
    assert (second.id, second.type, second.mount_point) == (
        "my-loop",
        "orchestrator",
        "orchestrator",
    )
    assert (second.version, second.description) == ("unknown", "In a folder.")
