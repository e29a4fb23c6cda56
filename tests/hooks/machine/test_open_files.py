"""How many connections this process may have."""

from __future__ import annotations

import resource
from collections.abc import Iterator

import pytest

from amplifier_hooks.machine.open_files import raise_file_limit, share_of_files


@pytest.fixture(autouse=True)
def _limits() -> Iterator[None]:
    """What the tests change is put back."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def _lower(soft: int) -> int:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return hard


def test_the_limit_is_raised_and_never_lowered():
    """Not beyond what the system allows."""
    hard = _lower(500)
    raise_file_limit(600)
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (600, hard)
    raise_file_limit(100)
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (600, hard)
    if hard != resource.RLIM_INFINITY:
        raise_file_limit(hard + 1)
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (hard, hard)


def test_a_share_leaves_room_for_the_rest():
    """And is never more than wanted, nor nothing."""
    _lower(400)
    assert share_of_files(4, 1000) == 100
    assert share_of_files(4, 50) == 50
    assert share_of_files(400, 50) == 4
