"""Reads the rules that are to be checked: of a bundle, or of files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from amplifier_core.errors import ModuleLoadError
from amplifier_core.mount_plan import ModuleEntry, MountPlan, read_entry
from amplifier_hooks.agent.bundles import Bundle, Place
from amplifier_hooks.approvals.rules import ApprovalRule, RulesApproval
from amplifier_hooks.approvals.rules import load_rule as load_approval_rule
from amplifier_hooks.guards.rules.engine import load_rule
from amplifier_hooks.guards.rules.loading import (
    NAME,
    Config,
    list_files,
    read_file,
    read_rules,
)
from amplifier_hooks.guards.rules.rule import Rule
from amplifier_hooks.guards.rules.rule_lines import find_rule_lines
from amplifier_hooks.insight.rule_checks.written_rule import (
    AnsweringRule,
    AnsweringRules,
    HookRule,
    HookRules,
    Rules,
)
from amplifier_hooks.machine.files import read_regular
from amplifier_hooks.modules.options import parse_config
from amplifier_hooks.yaml_files.node import to_plain
from amplifier_hooks.yaml_files.reader import read_file as read_bundle_file


def read_bundle_rules(bundle: Bundle, base: Path) -> list[HookRules]:
    """The rules of each entry of hooks-rules in a bundle, those of its agents too."""
    return [
        _read_entry(entry, bundle, base, agent)
        for entry, agent in _list_entries(bundle.mount_plan)
        if entry.module == NAME and entry.source is None
    ]


def _list_entries(plan: Mapping[str, Any]) -> Iterator[tuple[ModuleEntry, str]]:
    for entry in MountPlan.parse(dict(plan)).hooks:
        yield entry, ""
    for name, agent in plan["agents"].items():
        for given in agent.get("hooks") or ():
            yield read_entry("hooks", given), name


def _read_entry(entry: ModuleEntry, bundle: Bundle, base: Path, agent: str) -> HookRules:
    config = parse_config(Config, entry.config, NAME)
    try:  # the errors of the module itself, in its own words
        for one in read_rules(config, base):
            one.load(base)
    except ModuleLoadError as wrong:
        place = bundle.place_of(entry.module, entry.name, bool(agent), wrong.option)
        raise ModuleLoadError(f"{place}: {wrong}") from wrong
    dry_run = config.dry_run or getattr(entry, "mode", None) == "shadow"
    own = bundle.place_of(entry.module, entry.name, agent=bool(agent))
    known = _find_bundle_lines(bundle)
    found = [
        _make_rule(given, number, base, known.get(_name(given, number), own or Place("")), dry_run)
        for number, given in enumerate(config.rules, 1)
    ]
    for path in list_files(config, base):
        found += _read_hook_file(path, base, dry_run)
    source = f"{entry.name or NAME} of agent {agent!r}" if agent else entry.name or NAME
    return HookRules(
        tuple(found), base, source, tuple(config.path_keys), tuple(config.command_keys)
    )


def _find_bundle_lines(bundle: Bundle) -> dict[str, Place]:
    found: dict[str, Place] = {}
    for path in bundle.sources:
        text = bundle.snapshot.read(path).decode("utf-8", "replace")
        for name, line in find_rule_lines(text).items():
            found.setdefault(name, Place(str(path), line))
    return found


def read_rules_file(path: Path, base: Path) -> Rules:
    """The rules of a file: those of hooks-rules have an `action`, approval rules a `decision`."""
    try:
        entries = read_file(path)
    except ModuleLoadError as error:
        raise ModuleLoadError(f"{error}. A bundle is checked with --bundle") from error
    keys = {key for entry in entries if isinstance(entry, dict) for key in entry}
    if "decision" in keys and "action" not in keys:
        return _read_answering_file(path, base)
    if "action" not in keys:
        raise ModuleLoadError(
            f"{path} has no rules: those of hooks-rules have an 'action', approval rules a "
            "'decision'. A bundle is checked with --bundle"
        )
    read_rules(Config(file=str(path.absolute())), base)
    return HookRules(tuple(_read_hook_file(path, base, dry_run=False)), base, str(path))


def _read_hook_file(path: Path, base: Path, dry_run: bool) -> list[HookRule]:
    lines = find_rule_lines(read_regular(path).decode("utf-8", "replace"))
    return [
        _make_rule(given, number, base, Place(str(path), lines.get(_name(given, number))), dry_run)
        for number, given in enumerate(read_file(path), 1)
    ]


def _name(given: Mapping[str, Any], number: int) -> str:
    return str(given.get("name") or f"rule-{number}")


def _make_rule(
    given: Mapping[str, Any], number: int, base: Path, place: Place, dry_run: bool
) -> HookRule:
    name = _name(given, number)
    owner = f"{NAME}: rule {name!r}"
    rule = parse_config(Rule, {"name": name, **given}, owner)
    return HookRule(rule, load_rule(rule, base, owner), place, dry_run or rule.dry_run)


def _read_answering_file(path: Path, base: Path) -> AnsweringRules:
    RulesApproval(path, base)  # all errors, as a session would have them
    owner, found = f"the approval rules in {path}", []
    for node in read_bundle_file(path, {}, set()).mapping()["rules"].items():
        rule = parse_config(ApprovalRule, to_plain(node), owner)
        found.append(AnsweringRule(rule, load_approval_rule(rule, base, owner), node.place))
    return AnsweringRules(tuple(found), base, str(path))
