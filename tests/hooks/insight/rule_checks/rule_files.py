"""Rules in files, read to be checked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from amplifier_hooks.insight.rule_checks import Finding, check_rules, read_rules_file
from amplifier_hooks.insight.rule_checks.rules import AnsweringRules, HookRules

DENY = {"action": "deny", "reason": "not here"}
ASK = {"action": "ask_user", "approval_prompt": "Really?"}

Written = Sequence[dict[str, Any]]


def write_rules(folder: Path, rules: Written, name: str = "rules.yaml") -> Path:
    """A file of rules, each in a line of its own from the second line on, named r0 and so on."""
    lines = [f"- {json.dumps({'name': f'r{at}', **rule})}" for at, rule in enumerate(rules)]
    path = folder / name
    path.write_text("\n".join(["rules:", *lines, ""]))
    return path


def read_hook_rules(folder: Path, *rules: dict[str, Any]) -> HookRules:
    """Rules of hooks-rules, named r0, r1 and so on."""
    found = read_rules_file(write_rules(folder, rules), folder)
    assert isinstance(found, HookRules)
    return found


def read_answering_rules(folder: Path, *rules: dict[str, Any]) -> AnsweringRules:
    """Approval rules, named r0, r1 and so on."""
    found = read_rules_file(write_rules(folder, rules, "approvals.yaml"), folder)
    assert isinstance(found, AnsweringRules)
    return found


def find(folder: Path, *rules: dict[str, Any]) -> list[Finding]:
    """What is found in rules of hooks-rules."""
    return list(check_rules([read_hook_rules(folder, *rules)]).findings)


def summarize(findings: Sequence[Finding]) -> list[tuple[str, ...]]:
    """Each finding in short: its kind and its rules."""
    return [(one.kind, *one.rules) for one in findings]
