"""Whether a mount plan can be mounted at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from amplifier_core.mount_plan import EXAMPLES, LISTS
from amplifier_core.validation.base import ValidationResult

_KNOWN = frozenset({"session", *EXAMPLES, *LISTS, "agents"})


@dataclass(slots=True)
class MountPlanValidationResult(ValidationResult):
    """All checks of one plan."""

    module_type: str = "mount_plan"
    module_path: str = ""

    def format_errors(self) -> str:
        """What is wrong, for a person."""
        if not self.errors:
            return "No errors"
        lines = [f"  - {one.name}: {one.message}" for one in self.errors]
        return "\n".join(["Mount Plan Validation Failed", *lines])


class MountPlanValidator:
    """Looks at the written-out form of a plan, in which every module is a dict.

    A session also takes short forms, and modules themselves say what they make of their config.
    """

    REQUIRED_SECTIONS = ("session",)

    def validate(self, plan: Any) -> MountPlanValidationResult:
        """Check a plan."""
        result = MountPlanValidationResult()
        wrong = f"the plan must be a dict, got {type(plan).__name__}"
        if not result.check("plan", isinstance(plan, Mapping), "the plan is a dict", wrong):
            return result
        _check_session(plan, result)
        for kind in LISTS:
            if plan.get(kind) is not None:
                _check_list(kind, plan[kind], result)
        for section in plan.keys() - _KNOWN:
            wrong = f"unknown section {section!r}; known are {', '.join(sorted(_KNOWN))}"
            result.check("sections", False, wrong, severity="warning")
        return result


def _check_session(plan: Mapping[str, Any], result: ValidationResult) -> None:
    if plan.get("session") is None:
        expected = "expected a dict with orchestrator and context"
        result.check("session", False, f"the section session is missing, {expected}")
        return
    session = plan["session"]
    wrong = f"session must be a dict, got {type(session).__name__}"
    if not result.check("session", isinstance(session, Mapping), "session is a dict", wrong):
        return
    for kind, example in EXAMPLES.items():
        where = f"session.{kind}"
        if session.get(kind) is None:
            wrong = f"{where} is missing, expected {{'module': {example!r}}}"
            result.check(where, False, wrong)
        else:
            _check_spec(where, session[kind], result)


def _check_list(kind: str, entries: Any, result: ValidationResult) -> None:
    wrong = f"{kind} must be a list, got {type(entries).__name__}"
    if result.check(kind, isinstance(entries, list | tuple), f"{kind} is a list", wrong):
        for number, entry in enumerate(entries):
            _check_spec(f"{kind}[{number}]", entry, result)


def _check_spec(where: str, spec: Any, result: ValidationResult) -> None:
    wrong = list(_find_problems(spec))
    for problem in wrong:
        result.check(where, False, problem)
    if not wrong:
        result.check(where, True, f"names the module {spec['module']!r}")


def _find_problems(spec: Any) -> Iterator[str]:
    if not isinstance(spec, Mapping):
        yield f"must be a dict, got {type(spec).__name__}: expected {{'module': '…'}}"
        return
    module, config, source = (spec.get(key) for key in ("module", "config", "source"))
    if "module" not in spec:
        yield f"'module' is missing, expected {{'module': '…'}}, got {dict(spec)!r}"
    elif not isinstance(module, str):
        yield f"'module' must be a string, got {type(module).__name__}"
    elif not module.strip():
        yield "'module' is empty"
    if config is not None and not isinstance(config, Mapping):
        yield f"'config' must be a dict, got {type(config).__name__}"
    if source is not None and not isinstance(source, str):
        yield f"'source' must be a string, got {type(source).__name__}"
