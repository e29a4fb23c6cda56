"""Writing cases: what hooks answer now, as a file to start from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import yaml

from amplifier_hooks.insight.cases.case import TEXTS
from amplifier_hooks.insight.cases.case_run import CaseRun
from amplifier_hooks.insight.cases.outcome import Outcome
from amplifier_hooks.insight.cases.schema import find_pattern

_STAMPED = ("timestamp", "session_id")
_MISSING = object()


def choose_runs(runs: Iterable[CaseRun]) -> list[CaseRun]:
    """Those worth keeping: every answer that is more than continue, and one of those per event.

    What a failing hook answers is not worth keeping.
    """
    kept, quiet = [], set()
    for run in runs:
        if run.problem or run.has_failed_hook or not run.outcomes:
            continue
        outcome = run.outcomes[-1]
        if outcome.action == "continue" and outcome.event in quiet:
            continue
        if outcome.action == "continue":
            quiet.add(outcome.event)
        kept.append(run)
    return kept


def write_cases(key: str, target: str, config: Mapping[str, Any], runs: Iterable[CaseRun]) -> str:
    """The text of a file; `key` is hook or bundle, and `target` what it names."""
    document: dict[str, Any] = {key: target}
    if config:
        document["config"] = dict(config)
    document["cases"] = [_describe_run(run) for run in runs]
    text: str = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100)
    return text.replace("\n- name:", "\n\n- name:")


def _describe_run(run: CaseRun) -> dict[str, Any]:
    step, outcome = run.case.steps[-1], run.outcomes[-1]
    described: dict[str, Any] = {
        "name": f"{outcome.event}, {run.case.name}",
        "event": step.event,
    }
    if step.data:
        described["data"] = dict(step.data)
    return {**described, "expect": _describe_answer(outcome)}


def _describe_answer(outcome: Outcome) -> str | dict[str, Any]:
    answer: dict[str, Any] = {"action": outcome.action}
    for name in TEXTS:
        text = getattr(outcome.result, name)
        if text and find_pattern(text) is None:
            answer[name] = text
    if changed := dict(find_changed(outcome.sent, outcome.left)):
        answer["data"] = changed
    return outcome.action if len(answer) == 1 else answer


def find_changed(
    sent: Mapping[str, Any], left: Mapping[str, Any], start: str = ""
) -> Iterator[tuple[str, Any]]:
    """The fields that hooks changed or added, by their paths."""
    for name, value in left.items():
        path = f"{start}.{name}" if start else name
        before = sent.get(name, _MISSING)
        if path in _STAMPED or before == value:
            continue
        if isinstance(before, Mapping) and isinstance(value, Mapping) and value:
            yield from find_changed(before, value, path)
        else:
            yield path, value
