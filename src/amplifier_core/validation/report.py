"""What a validation found."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Check:
    """One promise of the contract, kept or not."""

    name: str
    passed: bool
    message: str = ""


@dataclass(slots=True)
class ValidationResult:
    """All checks of one module."""

    module_type: str
    module: str
    checks: list[Check] = field(default_factory=list)

    def add(self, name: str, passed: bool, message: str = "") -> bool:
        """Note a check; returns whether it passed."""
        self.checks.append(Check(name, passed, message))
        return passed

    @property
    def passed(self) -> bool:
        return all(check.passed for check in self.checks)

    @property
    def errors(self) -> list[Check]:
        return [check for check in self.checks if not check.passed]

    def summary(self) -> str:
        """One line for the whole, one for each promise that was not kept."""
        kept = len(self.checks) - len(self.errors)
        head = f"{self.module_type} {self.module}: {kept} of {len(self.checks)} checks passed"
        return "\n".join([head, *(f"  {one.name}: {one.message}" for one in self.errors)])
