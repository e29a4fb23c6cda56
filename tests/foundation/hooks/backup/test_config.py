"""The options of hooks-backup."""

from __future__ import annotations

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_foundation.hooks.backup import (
    list_backups,
)
from tests.support.harness import Harness


async def test_roots_may_lie_elsewhere(before, work, kept, tmp_path):
    """Option `roots`."""
    result = await before("../secret", config={"roots": [".", str(tmp_path)]})
    assert result.user_message is None
    assert [made.path for made in list_backups(kept)] == [str(tmp_path.resolve() / "secret")]


async def test_options_are_checked(work):
    """One line that names the nearest right key."""
    with pytest.raises(ModuleLoadError, match=r"hooks-backup: .*did you mean 'max_count'"):
        await Harness(work).mount("backup", {"max_cout": 3})
