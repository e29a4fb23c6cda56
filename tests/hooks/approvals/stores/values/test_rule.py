"""Standing rules as values."""

from __future__ import annotations

import json

from amplifier_hooks.approvals.encoding import to_json
from amplifier_hooks.approvals.models import OfferedScope, StandingRule


def test_a_rule_and_an_offer_survive_the_journey_as_json() -> None:
    """As the page and the command line get them."""
    rule = StandingRule(
        id="id",
        author="ann",
        created=1.0,
        expires=2.0,
        hook="guard",
        event="tool:pre",
        tool_name="Write",
        prompt="Go?",
        scope="exact",
        digest="d",
        working_dir="/w",
        machine="m",
        approval_id="a",
    )
    assert StandingRule.model_validate(json.loads(to_json(rule))) == rule
    assert (rule.uses, rule.uses_left, rule.revoked_at) == (0, None, None)
    offer = OfferedScope(id="exact", words="Allow exactly this")
    assert OfferedScope.model_validate(json.loads(to_json(offer))) == offer
