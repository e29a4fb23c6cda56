"""The exceptions of the kernel: one root, and a place in the standard tree where callers look."""

from __future__ import annotations

import inspect

import pytest

from amplifier_core import errors

EVERY = [
    one
    for _, one in inspect.getmembers(errors, inspect.isclass)
    if one.__module__ == errors.__name__
]


@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.__name__)
def test_every_exception_has_one_root_and_is_drawn_in_the_tree(kind: type[Exception]) -> None:
    """Whoever catches AmplifierError catches them all; the module's tree names each."""
    assert issubclass(kind, errors.AmplifierError)
    assert kind.__name__ in (errors.__doc__ or "")
    assert kind.__doc__


@pytest.mark.parametrize(
    ("kind", "standard"),
    [
        (errors.ApprovalTimeout, TimeoutError),
        (errors.InjectionTooLarge, ValueError),
        (errors.ModuleNotFound, ValueError),
        (errors.ModuleLoadError, RuntimeError),
    ],
)
def test_some_are_also_what_the_standard_library_would_raise(
    kind: type[Exception], standard: type[Exception]
) -> None:
    """A caller that knows nothing of us catches the usual exception."""
    with pytest.raises(standard, match="late"):
        raise kind("late")


def test_the_older_name_of_a_timeout_is_the_same_class() -> None:
    """Front ends raise either name."""
    assert errors.ApprovalTimeoutError is errors.ApprovalTimeout


def test_an_unknown_tool_is_named_with_those_there_are() -> None:
    """What, which value, and what would do."""
    assert str(errors.UnknownTool("Wirte", {"Write", "Bash"})) == (
        "Unknown tool 'Wirte'; have Bash, Write"
    )


def test_a_module_error_says_why_in_a_word() -> None:
    """Each kind has its own unless something more exact is known."""
    assert errors.ModuleNotFound("x").reason_code == "missing_source"
    assert errors.ModuleLoadError("x").reason_code == "unknown"
    assert errors.ModuleValidationError("x").reason_code == "validation_failed"
    exact = errors.ModuleValidationError("x", reason_code="invalid_package_layout")
    assert (str(exact), exact.reason_code) == ("x", "invalid_package_layout")
