"""Python objects as JSON values."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest

pytest.importorskip("pydantic_ai")

from pydantic import BaseModel, model_serializer

from amplifier_hooks.frameworks.pydantic_ai.messages import to_json_values


class Stubborn(BaseModel):
    """Cannot be shown."""

    @model_serializer
    def fail(self) -> Any:
        """Raise what a serializer may raise."""
        raise LookupError("no")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("a", "a"),
        ({"on": date(2026, 11, 17)}, {"on": "2026-11-17"}),
        (b"text", "text"),
        (b"\x00 \x81", "ACCB"),
        (Stubborn(), "<Stubborn that cannot be shown>"),
    ],
)
def test_every_value_is_shown(value: Any, shown: Any) -> None:
    """Bytes that are no text as base64, and what cannot be shown by its name."""
    assert to_json_values(value) == shown


def test_any_object_is_shown() -> None:
    """What it is, at least."""
    assert "object" in json.dumps(to_json_values([object()]))
