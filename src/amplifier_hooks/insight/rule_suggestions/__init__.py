"""Rules that the answers of people suggest; nothing here changes what anybody is asked."""

from amplifier_hooks.insight.rule_suggestions.suggest import (
    Proposal,
    Suggestions,
    Thresholds,
    Withheld,
    suggest_rules,
)

__all__ = ["Proposal", "Suggestions", "Thresholds", "Withheld", "suggest_rules"]
