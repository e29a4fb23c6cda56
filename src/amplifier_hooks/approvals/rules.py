"""Deciding by a file of rules, of which the first that matches counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from amplifier_core.approval import AnyApprovalSystem, ApprovalQuestion
from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.approvals.policy import PolicyApproval, Ruling
from amplifier_hooks.approvals.rule import ApprovalRule, LoadedRule, load_rule
from amplifier_hooks.modules.options import parse_config
from amplifier_hooks.yaml_files.node import find_broken, raise_problems, to_plain
from amplifier_hooks.yaml_files.reader import read_file

OTHERWISE = "otherwise"


class RulesFile(BaseModel):
    """What an approval file may say."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rules: list[dict[str, Any]] = Field(min_length=1)
    otherwise: Literal["deny", "ask"] = "ask"


class RulesApproval(PolicyApproval):
    """Answers by the rules of a file, which is read once; relative paths count from `folder`."""

    def __init__(
        self, file: Path, folder: Path, otherwise: AnyApprovalSystem | None = None
    ) -> None:
        super().__init__(otherwise)
        self.governing_files = (file.absolute(),)
        self._base = folder.resolve()
        self._rules, self._otherwise_verdict = _read(file, self._base)

    def judge(self, question: ApprovalQuestion) -> Ruling:
        """What the first rule says that the question fits."""
        for loaded in self._rules:
            if loaded.applies_to(question, self._base):
                rule = loaded.rule
                return Ruling(rule.decision, rule.name, rule.reason or "")
        return Ruling(self._otherwise_verdict, OTHERWISE, "no rule allows this without a person")


def _read(file: Path, base: Path) -> tuple[list[LoadedRule], Literal["deny", "ask"]]:
    """All rules or none: what is wrong with one is an error that names it."""
    node = read_file(file, {}, set())
    raise_problems(find_broken(node))
    content = to_plain(node)
    owner = f"the approval rules in {file}"
    given = parse_config(RulesFile, content if isinstance(content, dict) else {}, owner)
    rules = [_parse(entry, number, owner) for number, entry in enumerate(given.rules, 1)]
    names = [rule.name for rule in rules]
    doubled = [name for name in names if names.count(name) > 1 or name == OTHERWISE]
    if doubled:
        raise ModuleLoadError(f"{owner}: the name {doubled[0]!r} is taken; rename the rule")
    loaded = [load_rule(rule, base, f"{owner}: rule {rule.name!r}") for rule in rules]
    return loaded, given.otherwise


def _parse(entry: dict[str, Any], number: int, owner: str) -> ApprovalRule:
    name = entry.get("name")
    return parse_config(ApprovalRule, entry, f"{owner}: rule {name or number!r}")
