"""The options of hooks-shell."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.coding_agents.dialects import DIALECTS
from amplifier_hooks.coding_agents.shell_hooks.config import NAME, Config
from amplifier_hooks.modules.options import parse_config


def test_without_options_nothing_is_forced_on_the_files() -> None:
    """The files' own time limits and failure directions hold."""
    config = Config()
    assert (config.dialect, config.timeout, config.fail_closed) == ("auto", None, False)
    assert (config.settings, config.hooks) == ([], {})


@pytest.mark.parametrize("name", ["claude", "codex", "gemini", "cursor", "copilot"])
def test_every_agent_can_be_named(name: Any) -> None:
    """Every name of the option is the name of a dialect."""
    assert Config(dialect=name).dialect in DIALECTS


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
    """With its value, or with the option that was probably meant."""
    with pytest.raises(ModuleLoadError, match="hooks-shell") as caught:
        parse_config(Config, given, NAME)
    assert words in str(caught.value)
