"""Texts that every database can keep."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field


def check_text(text: str) -> str:
    """Refuse what no column of text holds: NUL, and halves of surrogate pairs."""
    if "\0" in text:
        raise ValueError("has a NUL character")
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise ValueError("has half of a surrogate pair")
    return text


STORABLE = AfterValidator(check_text)
# The store keeps names of this length.
Name = Annotated[str, Field(max_length=400), STORABLE]
Id = Annotated[str, Field(min_length=1, max_length=400), STORABLE]
Comment = Annotated[str, Field(max_length=4000), STORABLE]
