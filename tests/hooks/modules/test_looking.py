"""Looking at what another holds: nobody's own method is passed over, and holders are noticed."""

from __future__ import annotations

import functools
from typing import Any

from amplifier_hooks.modules.looking import (
    HELD_ONCE,
    count_holders,
    find_look,
    is_any_held_twice,
    looks_with,
)


class Owner:
    def __init__(self) -> None:
        self.value: list[int] = []

    def holds_alone(self) -> bool:
        return count_holders(self.value) <= HELD_ONCE

    def look(self) -> str:
        return "looked"

    @looks_with(look)
    def read(self) -> str:
        return "copied"


class Filters(Owner):
    def read(self) -> str:
        return super().read().upper()


class StandsBefore:
    """Passes on what it has no method for."""

    def __init__(self, owner: Owner) -> None:
        self._owner = owner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._owner, name)


def test_the_owner_itself_can_be_looked_at() -> None:
    """Its method that copies names the one that does not."""
    owner = Owner()
    look = find_look(owner.read, owner)
    assert look is not None
    assert look(owner) == "looked"


def test_a_method_of_somebodys_own_is_not_passed_over() -> None:
    """A subclass, something that stands before the owner, a function put in its place."""
    owner: Any = Filters()
    assert find_look(owner.read, owner) is None
    before = StandsBefore(Owner())
    assert find_look(before.read, before) is None
    owner = Owner()
    owner.read = lambda: "patched"
    assert find_look(owner.read, owner) is None


def test_who_else_holds_a_value_is_noticed() -> None:
    """A name, a list, a closure: as soon as it is gone, the value is held once again."""
    owner = Owner()
    assert owner.holds_alone()
    kept = [owner.value]
    assert not owner.holds_alone()
    kept.clear()
    assert owner.holds_alone()


def test_one_value_among_many_that_is_held_is_noticed() -> None:
    """Whoever holds it could change it."""
    values = [{"n": number} for number in range(10)]
    assert not is_any_held_twice(values)
    assert not is_any_held_twice([])
    one = values[7]
    assert is_any_held_twice(values)
    assert one == {"n": 7}


def test_what_wraps_a_method_is_not_passed_over() -> None:
    """`functools.wraps` copies what is noted on a function, and whoever wraps may filter."""

    def shout(self: Owner) -> str:
        return Owner.read(self).upper()

    wrapper: Any = functools.wraps(Owner.read)(shout)
    owner = type("Wraps", (Owner,), {"read": wrapper})()
    assert owner.read() == "COPIED"
    assert find_look(owner.read, owner) is None
