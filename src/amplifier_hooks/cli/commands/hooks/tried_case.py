"""A tried case: what became of it, and what its hooks printed meanwhile."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from amplifier_core.models import HookResult
from amplifier_hooks.cli.commands.hooks.data_change import DataChange, find_changes
from amplifier_hooks.cli.commands.hooks.printed_output import capture_output
from amplifier_hooks.insight.cases.case import Case
from amplifier_hooks.insight.cases.case_run import CaseRun, run_case
from amplifier_hooks.insight.cases.outcome import Outcome
from amplifier_hooks.insight.cases.subject import Subject
from amplifier_hooks.machine.json_text import to_plain

_STAMPED = frozenset({"timestamp", "session_id"})


@dataclass(frozen=True, slots=True)
class TriedCase:
    """The run of a case, and what was printed."""

    run: CaseRun
    printed: str = ""

    @property
    def name(self) -> str:
        """Of the case."""
        return self.run.case.name

    @property
    def passed(self) -> bool:
        """Whether everything was as expected."""
        return self.run.passed


def try_cases(
    cases: Iterable[Case], subject: Subject, config: Mapping[str, Any], limit: float
) -> Iterator[TriedCase]:
    """Run cases one after another."""
    HookResult(action="deny", reason="")  # the first answer of a process takes longer than others
    for case in cases:
        with capture_output() as printed:
            run = run_case(case, subject, config, limit)
        yield TriedCase(run, printed.text)


def list_changes(outcome: Outcome) -> list[DataChange]:
    """What the hooks changed of the data, without what the registry itself adds."""
    changes = find_changes(outcome.sent, outcome.left)
    return [one for one in changes if one.field not in _STAMPED]


def tried_to_dict(tried: TriedCase) -> dict[str, Any]:
    """A tried case for machines."""
    run = tried.run
    return {
        "name": run.case.name,
        "line": run.case.line,
        "passed": run.passed,
        "problem": run.problem or None,
        "differences": [asdict(one) for one in run.differences],
        "events": [_outcome_to_dict(one) for one in run.outcomes],
        "printed": tried.printed,
    }


def _outcome_to_dict(outcome: Outcome) -> dict[str, Any]:
    answer = outcome.result.model_dump(exclude_defaults=True, exclude={"data", "action"})
    return {
        "event": outcome.event,
        "sent": to_plain(dict(outcome.sent)),
        "action": outcome.action,
        "hook": outcome.hook or None,
        **answer,
        "changes": [asdict(one) for one in list_changes(outcome)],
        "failures": [asdict(one) for one in outcome.failures],
        "advice": list(outcome.advice),
        "ms": round(outcome.ms, 3),
    }
