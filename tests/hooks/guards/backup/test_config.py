"""The options of hooks-backup."""

from __future__ import annotations

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.guards.backup import (
    list_backups,
)
from tests.support.harness import Harness


async def test_roots_may_lie_elsewhere(before, work, kept, tmp_path):
    """Option `roots`."""
    result = await before("../secret", config={"roots": [".", str(tmp_path)]})
    assert result.user_message is None
    assert [made.path for made in list_backups(kept)] == [str(tmp_path.resolve() / "secret")]


async def test_options_are_checked(work):
    """One line that names the key and the value."""
    with pytest.raises(ModuleLoadError, match="hooks-backup: option 'max_count' cannot be 0"):
        await Harness(work).mount("backup", {"max_count": 0})


async def test_the_directory_may_be_called_as_modules_of_the_ecosystem_call_it(before, work):
    """Option `backup_dir`."""
    (work / "file").write_text("old")
    await before("file", config={"backup_dir": "copies"})
    assert len(list_backups(work / "copies")) == 1


async def test_the_directory_may_lie_in_the_project(before, work):
    """Option `directory`, from the working directory."""
    (work / "file").write_text("old")
    await before("file", config={"directory": ".amplifier/backups"})
    assert len(list_backups(work / ".amplifier" / "backups")) == 1
