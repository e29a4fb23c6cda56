"""How a question ended, in words."""

from __future__ import annotations

from typing import get_args

import pytest

from amplifier_core.approval.gate import How
from amplifier_hooks.cli.text.words import explain_how


@pytest.mark.parametrize("how", get_args(How))
def test_every_end_that_nobody_chose_is_explained(how: str) -> None:
    """A person's or a rule's decision speaks for itself."""
    assert bool(explain_how(how)) == (how not in {"person", "rule"})


@pytest.mark.parametrize("how", [None, 3, "", "later"])
def test_what_a_trail_says_otherwise_is_left_out(how: object) -> None:
    """Records of other versions may know other ends."""
    assert explain_how(how) == ""
