"""What the package offers."""

from __future__ import annotations

import pytest

pytest.importorskip("agents")

from amplifier_hooks.coverage import OPENAI_AGENTS
from amplifier_hooks.frameworks import openai_agents


def test_the_package_offers_the_line_its_interruptions_and_its_table() -> None:
    """Nothing else; the table is the one that can be read without the SDK."""
    wanted = ["PromptDenied", "amplify", "coverage", "questions", "settle"]
    assert sorted(openai_agents.__all__) == wanted
    assert openai_agents.coverage() is OPENAI_AGENTS
    assert openai_agents.amplify.__name__ in OPENAI_AGENTS.attach
