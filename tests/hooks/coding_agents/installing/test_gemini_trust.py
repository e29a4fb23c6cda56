"""Gemini's rules about folders, read as it reads them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.coding_agents.installing.gemini_trust import is_folder_trusted


def write(home: Path, name: str, value: Any) -> None:
    """A file of Gemini's."""
    (home / ".gemini").mkdir(exist_ok=True)
    text = value if isinstance(value, str) else json.dumps(value)
    (home / ".gemini" / name).write_text(text)


@pytest.mark.parametrize(
    ("rules", "trusted"),
    [
        ({}, False),
        ({"p": "TRUST_FOLDER"}, True),
        ({"": "TRUST_FOLDER"}, True),
        ({"other": "TRUST_PARENT"}, True),
        ({"other": "TRUST_FOLDER"}, False),
        ({"p": "DO_NOT_TRUST"}, False),
        ({"": "TRUST_FOLDER", "p": "DO_NOT_TRUST"}, False),
        ({"": "DO_NOT_TRUST", "p": "TRUST_FOLDER"}, True),
    ],
)
def test_the_longest_rule_that_fits_decides(
    home: Path, rules: dict[str, str], trusted: bool
) -> None:
    """Rules hold for the folders below, too."""
    (home / "p" / "inner").mkdir(parents=True)
    write(home, "trustedFolders.json", {str(home / one): level for one, level in rules.items()})
    assert is_folder_trusted(home / "p") is trusted
    assert is_folder_trusted(home / "p" / "inner") is trusted


@pytest.mark.parametrize("text", ["{broken", "[]", '{"p": 1}'])
def test_rules_that_cannot_be_read_trust_nothing(home: Path, text: str) -> None:
    """Nor does a missing file."""
    assert not is_folder_trusted(home)
    write(home, "trustedFolders.json", text)
    assert not is_folder_trusted(home)


def test_a_person_can_do_without_these_rules(home: Path) -> None:
    """In their own settings."""
    write(home, "settings.json", '// mine\n{"security": {"folderTrust": {"enabled": false}}}')
    assert is_folder_trusted(home)
    write(home, "settings.json", {"security": {"folderTrust": {"enabled": True}}})
    assert not is_folder_trusted(home)
    write(home, "settings.json", {"security": []})
    assert not is_folder_trusted(home)


def test_the_rules_may_be_elsewhere(home: Path) -> None:
    """Where a variable says."""
    (home / "rules.json").write_text(json.dumps({str(home): "TRUST_FOLDER"}))
    env = {"HOME": str(home), "GEMINI_CLI_TRUSTED_FOLDERS_PATH": str(home / "rules.json")}
    assert is_folder_trusted(home, env)
    assert not is_folder_trusted(home, {"HOME": str(home)})
    assert not is_folder_trusted(home, {**env, "GEMINI_CLI_TRUST_WORKSPACE": "false"})
    assert is_folder_trusted(home, {"HOME": str(home), "GEMINI_CLI_TRUST_WORKSPACE": "true"})
