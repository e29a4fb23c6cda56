"""Rule sets that are used again."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_hooks.sandbox.linux import rulesets
from amplifier_hooks.sandbox.linux.landlock import query_abi
from amplifier_hooks.sandbox.linux.rulesets import Rulesets
from amplifier_hooks.sandbox.wall import Wall

pytestmark = pytest.mark.skipif(query_abi() < 1, reason="THIS KERNEL HAS NO LANDLOCK")


def count_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_the_same_wall_is_built_once_until_a_folder_changes(tmp_path: Path) -> None:
    """The number tells which one it is."""
    kept = Rulesets()
    wall = Wall((tmp_path,), (tmp_path / "hidden",), (), tmp_path)

    def number() -> int:
        with kept.lend(wall) as (_, found):
            return found

    # Other programs make folders beside those on the way, too: between two looks there are none.
    assert any(number() == number() for _ in range(100))
    first = number()
    (tmp_path / "new").mkdir()
    assert number() != first


def test_only_the_last_few_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is an open descriptor."""
    monkeypatch.setattr(rulesets, "_MOST", 3)
    kept = Rulesets()
    before = count_descriptors()
    for number in range(10):
        with kept.lend(Wall((tmp_path / str(number),), (), (), tmp_path)):
            pass
    assert count_descriptors() == before + 3
