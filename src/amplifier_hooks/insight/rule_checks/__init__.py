"""Checks of rules: which never match, which others shadow or contradict, which nothing matched."""

from amplifier_hooks.insight.rule_checks.check import Check, check_rules
from amplifier_hooks.insight.rule_checks.rules import (
    Finding,
    Rules,
    StandingGrant,
    read_bundle_rules,
    read_rules_file,
)
from amplifier_hooks.insight.rule_checks.usage import Usage

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

PUBLIC_MODULES = ("rules",)
