"""Checks that options of several modules share."""

from __future__ import annotations

import pytest

from amplifier_hooks.modules.option_checks import check_known, check_pattern_names


def test_a_name_that_nobody_knows_is_refused_with_the_closest() -> None:
    """All others are handed back."""
    assert check_known(["red"], {"red", "green"}, "color") == ["red"]
    with pytest.raises(ValueError, match=r"there is no color 'gren'.*green"):
        check_known(["red", "gren"], {"red", "green"}, "color")


@pytest.mark.parametrize("name", ["", "-a", "a b", "a]", "ä"])
def test_a_pattern_needs_a_name_that_can_stand_in_a_replacement(name: str) -> None:
    """The value is named."""
    check_pattern_names({"our-key_2.0": "x"})
    with pytest.raises(ValueError, match="is not a name"):
        check_pattern_names({name: "x"})
