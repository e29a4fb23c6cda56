"""Event data of the forms that modules emit."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest
from pydantic import BaseModel

from amplifier_core.payloads import normalize_data


class Payload(BaseModel):
    x: int = 1


@pytest.mark.parametrize(
    ("given", "data"),
    [
        (None, {}),
        (MappingProxyType({"x": 1}), {"x": 1}),
        (Payload(), {"x": 1}),
        ("text", {"data": "text"}),
        ([1], {"data": [1]}),
    ],
)
def test_whatever_is_emitted_becomes_a_dict(given: Any, data: dict[str, Any]) -> None:
    """A mapping, a model, nothing, or one value."""
    assert normalize_data(given) == data
