"""A proposed rule is tried as a session would use it."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.insight.rule_suggestions.trial import Trial
from tests.hooks.insight.rule_suggestions.asked import GUARD, make_question

RULE = {
    "name": "x",
    "hook": GUARD,
    "tool": "Bash",
    "command": "make test",
    "when": 'tool_input.command == "make test"',
    "decision": "allow",
}


def test_it_allows_what_the_rule_allows_whoever_asked() -> None:
    """A no that another hook got for the same call counts as well."""
    trial = Trial(RULE, Path("/home/ann/project"))
    assert trial.hook == GUARD
    assert trial.allows_question(make_question("Bash", {"command": "make test"}, hook="other"))
    assert not trial.allows_question(make_question("Bash", {"command": "make"}))
    assert not trial.allows_question(
        make_question("Bash", {"command": "make test"}, event="tool:post")
    )
    assert not trial.allows("Bash", {})


def test_a_rule_that_is_no_rule_is_an_error() -> None:
    """Nothing is proposed that could not be loaded."""
    with pytest.raises(ModuleLoadError):
        Trial({**RULE, "when": "no expression ("}, Path("/"))
