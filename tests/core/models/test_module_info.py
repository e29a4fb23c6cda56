"""What is known of a module without mounting it."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from pydantic import ValidationError

from amplifier_core.models import ModuleInfo, ModuleType

FACTS: dict[str, Any] = {
    "id": "hooks-x",
    "name": "X",
    "version": "1.0",
    "type": "hook",
    "mount_point": "hooks",
    "description": "Watches.",
}


@pytest.mark.parametrize("kind", get_args(ModuleType))
def test_a_module_is_of_one_of_six_kinds(kind: str) -> None:
    """The kinds that can be mounted."""
    assert ModuleInfo(**{**FACTS, "type": kind}).config_schema is None


@pytest.mark.parametrize("wrong", [{"type": "agent"}, {"mount_point": None}, {"version": 1}])
def test_anything_else_is_refused(wrong: dict[str, Any]) -> None:
    """Whoever lists modules can rely on every line."""
    with pytest.raises(ValidationError):
        ModuleInfo(**{**FACTS, **wrong})


@pytest.mark.parametrize("name", FACTS)
def test_every_fact_but_the_schema_is_needed(name: str) -> None:
    """A module without one of them cannot be chosen."""
    with pytest.raises(ValidationError, match=name):
        ModuleInfo(**{key: value for key, value in FACTS.items() if key != name})
