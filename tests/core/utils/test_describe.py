"""Texts of values and exceptions that refuse to be printed."""

from __future__ import annotations

import os
from functools import partial, wraps
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from amplifier_core.models import HookResult
from amplifier_core.utils import describe_error, safe_repr
from amplifier_core.utils.text import describe_cause, locate_failure


class Rude:
    def __repr__(self) -> str:
        raise ValueError("no")


def test_texts_of_what_refuses():
    class Silent(Exception):
        def __str__(self) -> str:
            raise ValueError

    assert safe_repr(Rude()) == "<Rude whose repr raised ValueError>"
    assert describe_error(Silent()) == "Silent"
    assert describe_error(ValueError("x")) == "ValueError: x"


def fail(*_: Any) -> None:
    int("x")  # line of the failure


LINE = 1 + Path(__file__).read_text().splitlines().index('    int("x")  # line of the failure')


def catch(function: Any) -> Exception:
    try:
        function("event", {})
    except Exception as error:  # noqa: BLE001 - whatever it raises is looked at
        return error
    raise AssertionError("it did not fail")


class Callable:
    def __call__(self, *_: Any) -> None:
        fail()

    def method(self, *_: Any) -> None:
        fail()


@wraps(fail)
def wrapped(*_: Any) -> None:
    fail()


@pytest.mark.parametrize(
    "function",
    [fail, partial(fail, 1), wrapped, Callable(), Callable().method, partial(wrapped), len],
)
def test_a_failure_is_located_in_the_functions_own_file(function: Any) -> None:
    """The innermost line of it, whatever kind of callable it is; a builtin has no file."""
    found = locate_failure(catch(function), function)
    place = f"{os.path.relpath(__file__)}:{LINE}"
    assert found == ("" if function is len else place)


def test_a_failure_outside_of_it_is_located_at_its_definition(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hook that took too long raised nothing; a file outside of the working folder is whole."""
    defined = LINE - 1
    assert locate_failure(TimeoutError(), fail) == f"{os.path.relpath(__file__)}:{defined}"
    monkeypatch.chdir(tmp_path)
    assert locate_failure(TimeoutError(), fail) == f"{__file__}:{defined}"
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert locate_failure(TimeoutError(), fail) == f"{__file__}:{defined}"


def test_a_cause_is_one_line() -> None:
    """Of data that is not valid, the first problem and what was given."""
    assert describe_cause(ValueError("a\n  b")) == "ValueError: a b"
    with pytest.raises(ValidationError) as caught:
        HookResult(action="denyy")  # type: ignore[arg-type]
    assert describe_cause(caught.value) == (
        "ValidationError: action: Input should be 'continue', 'deny', 'modify', "
        "'inject_context' or 'ask_user' (got 'denyy')"
    )
    with pytest.raises(ValidationError) as caught:
        HookResult(actoin="deny")  # type: ignore[call-arg]
    assert describe_cause(caught.value) == (
        "ValidationError: actoin: HookResult has no field 'actoin'; did you mean 'action'? "
        "(got 'deny')"
    )
