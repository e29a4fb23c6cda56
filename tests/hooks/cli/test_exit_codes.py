"""Which error means which exit code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import amplifier_hooks.cli
from amplifier_audit import NotALog
from amplifier_core.errors import ModuleNotFound, SessionDenied, SessionStateError
from amplifier_core.llm_errors import AuthenticationError, RateLimitError
from amplifier_hooks import BundleError
from amplifier_hooks.cli import exit_codes
from amplifier_hooks.cli.commands.plan import NoModel
from amplifier_hooks.cli.exit_codes import find_exit_code, is_expected


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ModuleNotFound("x"), exit_codes.CONFIGURATION),
        (BundleError([]), exit_codes.CONFIGURATION),
        (NoModel("x"), exit_codes.NO_MODEL),
        (AuthenticationError("x"), exit_codes.NO_MODEL),
        (SessionDenied("x"), exit_codes.DENIED),
        (SessionStateError("x"), exit_codes.FAILED),
        (RateLimitError("x"), exit_codes.FAILED),
        (NotALog("x"), exit_codes.FAILED),
        (RuntimeError("x"), exit_codes.FAILED),
    ],
)
def test_exit_codes_follow_the_error(error: Exception, code: int) -> None:
    """A script can tell what to do about it."""
    assert find_exit_code(error) == code


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (SessionDenied("x"), True),
        (RateLimitError("x"), True),
        (NotALog("x"), True),
        (PermissionError("x"), True),
        (BundleError([]), True),
        (RuntimeError("x"), False),
        (KeyError("x"), False),
    ],
)
def test_an_error_is_raised_to_be_read_or_by_mistake(error: Exception, expected: bool) -> None:
    """What somebody foresaw is a sentence, the rest is a bug."""
    assert is_expected(error) == expected


def test_no_command_has_a_number_of_its_own() -> None:
    """A code is named where it is used, and a number in one place only."""
    folder = Path(amplifier_hooks.cli.__file__).parent
    number = re.compile(r"(sys\.exit|\.exit)\(\d|-> int:(.|\n)*?\n    return \d\b")
    found = [path.name for path in folder.rglob("*.py") if number.search(path.read_text())]
    assert found == []
