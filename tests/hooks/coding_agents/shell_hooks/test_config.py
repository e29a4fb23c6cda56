"""The options of hooks-shell."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.coding_agents.dialects import DIALECTS
from amplifier_hooks.coding_agents.shell_hooks.config import NAME, Config, DialectName
from amplifier_hooks.modules.options import parse_config


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"dialect": "emacs"}, "'dialect' cannot be 'emacs'"),
        ({"timeout": 0}, "'timeout' cannot be 0"),
        ({"timeout": float("inf")}, "'timeout' cannot be inf"),
        ({"output_limit": 10}, "'output_limit' cannot be 10"),
        ({"setings": []}, "did you mean 'settings'?"),
    ],
)
def test_a_wrong_option_is_named(given: dict[str, Any], words: str) -> None:
    """With its value, or with the option that was meant; every name of an agent is a dialect's."""
    assert {"auto", *DIALECTS} >= set(get_args(DialectName))
    with pytest.raises(ModuleLoadError, match="hooks-shell") as caught:
        parse_config(Config, given, NAME)
    assert words in str(caught.value)
