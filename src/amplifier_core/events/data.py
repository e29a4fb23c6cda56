"""Event data of the forms that modules emit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel


def normalize_data(data: Any) -> dict[str, Any]:
    """Event data of the forms that modules emit: a mapping, a model, nothing, or one value.

    A plain dict is returned as it is.
    """
    if type(data) is dict:
        return data
    if data is None:
        return {}
    if isinstance(data, Mapping | BaseModel):
        return dict(data)
    return {"data": data}
