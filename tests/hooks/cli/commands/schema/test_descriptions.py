"""The sentences that an editor shows."""

from __future__ import annotations

import pytest

from amplifier_hooks.agent.bundles import schema
from amplifier_hooks.agent.bundles.schema import get_schema
from amplifier_hooks.cli.commands.schema import descriptions


@pytest.mark.parametrize(
    "section",
    ["BUNDLE", "MODULE", "HOOK", "SESSION", "LIMITS", "AGENT", "APPROVAL", "AUDIT", "SANDBOX"],
)
def test_each_key_of_a_section_is_described_and_no_other(section: str) -> None:
    """A new key needs a sentence, one that is gone leaves none behind."""
    meanings = getattr(descriptions, section)
    assert meanings.keys() == get_schema(getattr(schema, section))["properties"].keys()
    assert all(meaning.endswith(".") for meaning in meanings.values())
