"""The checks of a mount plan."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.validation import (
    MountPlanValidationResult,
    MountPlanValidator,
    ValidationResult,
)

SESSION = {"orchestrator": {"module": "a"}, "context": {"module": "b", "source": "./b"}}


@pytest.mark.parametrize(
    ("plan", "errors"),
    [
        ({"session": SESSION}, []),
        ({"session": SESSION, "tools": [{"module": "y", "config": {"a": 1}}], "agents": 5}, []),
        ({"session": SESSION, "tools": None, "hooks": ()}, []),
        ([], ["plan"]),
        (None, ["plan"]),
        ({}, ["session"]),
        ({"session": "x"}, ["session"]),
        ({"session": {}}, ["session.orchestrator", "session.context"]),
        ({"session": {**SESSION, "context": "b"}}, ["session.context"]),
        (
            {"session": SESSION, "hooks": {}, "tools": [{"module": "y"}, {}, 7, None, "x"]},
            ["tools[1]", "tools[2]", "tools[3]", "tools[4]", "hooks"],
        ),
        (
            {"session": SESSION, "providers": [{"module": 3, "config": [], "source": 4}]},
            ["providers[0]", "providers[0]", "providers[0]"],
        ),
        ({"session": SESSION, "hooks": [{"module": " "}]}, ["hooks[0]"]),
    ],
)
def test_what_is_wrong_with_a_plan_is_named(plan: Any, errors: list[str]) -> None:
    """Each entry by its place, so that its author finds it."""
    result = MountPlanValidator().validate(plan)
    assert [one.name for one in result.errors] == errors
    assert result.passed is not bool(errors)


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (3, ["must be a dict", "int"]),
        ({}, ["session", "missing", "expected"]),
        ({"session": []}, ["session must be a dict", "list"]),
        ({"session": {"context": {"module": "b"}}}, ["session.orchestrator", "missing"]),
        ({"session": SESSION, "tools": "x"}, ["tools must be a list", "str"]),
        ({"session": SESSION, "tools": ["x"]}, ["must be a dict", "str"]),
        ({"session": SESSION, "tools": [{"modul": "x"}]}, ["missing", "expected", "modul"]),
        ({"session": SESSION, "tools": [{"module": 7}]}, ["must be a string", "int"]),
        ({"session": SESSION, "tools": [{"module": ""}]}, ["empty"]),
        ({"session": SESSION, "tools": [{"module": "x", "config": 1}]}, ["'config'", "dict"]),
        ({"session": SESSION, "tools": [{"module": "x", "source": 1}]}, ["'source'", "string"]),
    ],
)
def test_what_would_do_is_said(plan: Any, words: list[str]) -> None:
    """With what was found instead."""
    (error,) = MountPlanValidator().validate(plan).errors
    assert [word for word in words if word not in error.message] == []


def test_an_unknown_section_is_a_warning() -> None:
    """Somebody else may know it."""
    result = MountPlanValidator().validate({"session": SESSION, "gadgets": []})
    assert result.passed
    assert ["unknown section 'gadgets'" in one.message for one in result.warnings] == [True]


def test_errors_can_be_shown_to_a_person() -> None:
    """With name and message of each; warnings are left out."""
    good = MountPlanValidator().validate({"session": SESSION, "gadgets": []})
    assert good.format_errors() == "No errors"
    bad = MountPlanValidator().validate({"session": SESSION, "tools": [{"module": ""}], "hooks": 1})
    assert isinstance(bad, MountPlanValidationResult)
    assert isinstance(bad, ValidationResult)
    assert bad.format_errors() == (
        "Mount Plan Validation Failed\n"
        "  - tools[0]: 'module' is empty\n"
        "  - hooks: hooks must be a list, got int"
    )
