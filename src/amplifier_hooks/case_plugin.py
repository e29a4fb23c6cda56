"""For pytest: each case in a file `*.cases.yaml` that names its hooks is a test.

pytest loads this plugin for every project, so nothing else of ours is imported until such a file is
found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from amplifier_hooks.insight.cases.case import Case, CaseFile
    from amplifier_hooks.insight.cases.running import Subject

_NAME = re.compile(r".+\.cases\.(ya?ml|json)")
# Not \s before a key: many empty lines would be gone through once for each of them.
_ABOUT_HOOKS = re.compile(rb"""^[ \t{,]*["']?(hook|bundle)["']?[ \t]*:\s*\S""", re.MULTILINE)
_HAS_CASES = re.compile(rb"""^[ \t{,]*["']?cases["']?[ \t]*:""", re.MULTILINE)


class CaseFailed(Exception):
    """A case whose hooks did not answer as expected; the message says what they did."""


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> CaseCollector | None:
    """Take a file of cases that says which hooks it is about; others may mean something else."""
    if not _NAME.fullmatch(file_path.name):
        return None
    content = file_path.read_bytes()
    if not (_ABOUT_HOOKS.search(content) and _HAS_CASES.search(content)):
        return None
    collector: CaseCollector = CaseCollector.from_parent(parent, path=file_path)
    return collector


class CaseCollector(pytest.File):
    """A file of cases."""

    @cached_property
    def cases(self) -> CaseFile:
        """What is in the file; CasesError if it cannot be used."""
        from amplifier_hooks.insight.cases.files import read_cases

        return read_cases(self.path)

    @cached_property
    def subject(self) -> Subject:
        """The hooks that the file is about."""
        from amplifier_hooks.insight.cases.running import find_subject, open_bundle

        if self.cases.bundle is not None:
            return open_bundle(self.path.parent / self.cases.bundle)
        return find_subject(str(self.cases.hook), self.path.parent)

    def collect(self) -> Iterator[pytest.Item]:
        """One test for each case."""
        for case in self.cases.cases:
            yield CaseItem.from_parent(self, name=case.name, case=case)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Show what is wrong with the file, without our own lines."""
        from amplifier_hooks.insight.cases.files import CasesError

        if isinstance(excinfo.value, CasesError):
            return str(excinfo.value)
        return super().repr_failure(excinfo)


class CaseItem(pytest.Item):
    """One case."""

    parent: CaseCollector

    def __init__(self, *, case: Case, **others: Any) -> None:
        super().__init__(**others)
        self.case = case

    def runtest(self) -> None:
        """Run it in an event loop of its own."""
        from amplifier_core.errors import AmplifierError
        from amplifier_hooks.insight.cases.running import run_case

        file = self.parent.cases
        try:
            subject = self.parent.subject
        except AmplifierError as error:
            raise CaseFailed(str(error)) from None
        run = run_case(self.case, subject, file.config, file.timeout)
        if not run.passed:
            raise CaseFailed("\n".join(run.list_reasons()))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Show what was expected and what came, without our own lines."""
        if isinstance(excinfo.value, CaseFailed):
            return f"{excinfo.value}\n\n{self.path}:{self.case.line}: {self.case.name}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where the case is, and what it is called."""
        line = self.case.line
        return self.path, None if line is None else line - 1, self.case.name
