"""Running the base classes of authors' tests by hand, to see what they let pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def list_tests(tests: type) -> list[str]:
    """The names of the tests in a class."""
    return [name for name in dir(tests) if name.startswith("test_")]


async def find_failures(tests: type, make: Callable[[], tuple[Any, ...]]) -> set[str]:
    """Run every test of a class with fixtures of its own; the names of those that fail.

    `make` gives the fixtures in the order in which the tests take them; a test takes as many as it
    has parameters.
    """
    failed = set()
    for name in list_tests(tests):
        test = getattr(tests(), name)
        given = make()[: test.__func__.__code__.co_argcount - 1]
        try:
            await test(*given)
        except Exception:  # noqa: BLE001 - an author sees every one of them as a failure
            failed.add(name)
    return failed
