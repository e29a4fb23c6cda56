"""Checks of rules: which never match, which others shadow or contradict, which nothing matched."""

from amplifier_hooks.insight.rule_checks.check import Check, check_rules
from amplifier_hooks.insight.rule_checks.finding import Finding
from amplifier_hooks.insight.rule_checks.reading import read_bundle_rules, read_rules_file
from amplifier_hooks.insight.rule_checks.usage import Usage
from amplifier_hooks.insight.rule_checks.written_rule import Rules, StandingGrant

__all__ = [
    "Check",
    "Finding",
    "Rules",
    "StandingGrant",
    "Usage",
    "check_rules",
    "read_bundle_rules",
    "read_rules_file",
]
