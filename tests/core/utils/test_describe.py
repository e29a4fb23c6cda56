"""Texts of values and exceptions that refuse to be printed."""

from __future__ import annotations

from amplifier_core.utils import describe_error, safe_repr


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
