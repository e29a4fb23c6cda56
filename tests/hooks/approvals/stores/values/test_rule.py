"""Standing rules as values."""

from __future__ import annotations

import json

from amplifier_hooks.approvals.models import OfferedScope, StandingRule, read_plain, to_plain


def test_a_rule_and_an_offer_survive_the_journey_as_json() -> None:
    """As the page and the command line get them."""
    rule = StandingRule(
        "id", "ann", 1.0, 2.0, "guard", "tool:pre", "Write", "Go?", "exact", "d", "/w", "m", "a"
    )
    assert read_plain(StandingRule, json.loads(json.dumps(to_plain(rule)))) == rule
    assert (rule.uses, rule.uses_left, rule.revoked_at) == (0, None, None)
    offer = OfferedScope("exact", "Allow exactly this")
    assert read_plain(OfferedScope, to_plain(offer)) == offer
