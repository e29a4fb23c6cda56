"""Pictures are not looked through: there is nothing in them, and it would take seconds."""

from __future__ import annotations

import pytest

from amplifier_hooks.guards.policy.secrets import SHAPES, Redactor
from amplifier_hooks.guards.policy.secrets.pictures import is_picture

PNG = "iVBORw0KGgo" + "aB3d" * 600
TOKEN = "ghp_" + "a1B2" * 9


@pytest.mark.parametrize("start", ["iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR"])
def test_a_picture_is_known_by_how_it_begins(start):
    """In each of the four forms that models take."""
    assert is_picture(start + "aB3d" * 600 + "==")


@pytest.mark.parametrize(
    "text", ["", PNG[:1000], "x" * 5000, f"{PNG} {TOKEN}", f"{PNG}\n", f"{PNG}=a", TOKEN * 100]
)
def test_nothing_else_is_one(text):
    """A text that only begins like a picture is looked through."""
    assert not is_picture(text)


def test_a_picture_stays_as_it_is_and_a_text_beside_it_does_not():
    """Whatever its letters happen to look like."""
    redactor = Redactor(SHAPES, "test", "[hidden]")
    picture = PNG + "AKIAIOSFODNN7EXAMPLE"
    value = [{"type": "text", "text": f"the key {TOKEN}"}, {"source": {"data": picture}}]
    left = redactor.redact(value)
    assert left[1] == value[1]
    assert TOKEN not in left[0]["text"]
