"""Values of a plan that are refused, and those that cannot be judged yet."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import TypeAdapter, ValidationError

from amplifier_core.mount_plan.schema import Expected, Module

EITHER: TypeAdapter[Any] = TypeAdapter(Annotated[int | bool, Expected("a number or a switch")])


class Unread:
    """Stands for a value that a variable will have."""


def test_the_id_of_a_module_is_not_blank() -> None:
    """Or nobody could find it."""
    assert Module.model_validate({"module": "loop-basic"}).module == "loop-basic"
    with pytest.raises(ValidationError, match="must not be empty"):
        Module.model_validate({"module": " "})


def test_a_value_of_no_expected_type_is_told_what_would_do() -> None:
    """In one sentence, not in one for each type."""
    with pytest.raises(ValidationError, match="must be a number or a switch"):
        EITHER.validate_python("x")
    assert EITHER.validate_python(3) == 3


def test_a_value_that_is_not_known_yet_is_not_refused() -> None:
    """What stands for it is the context of the check."""
    value = Unread()
    assert EITHER.validate_python(value, context=Unread) is value
    with pytest.raises(ValidationError, match="must be a number or a switch"):
        EITHER.validate_python("x", context=Unread)
