"""Texts of classes of their own, as no JSON has them."""

from __future__ import annotations


class Name(str):
    __slots__ = ()


class Twin(str):
    """Not equal to another of its kind, so that one dict can have two with the same letters."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other
