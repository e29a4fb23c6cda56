"""From a wall to an order."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from amplifier_hooks.sandbox import bubblewrap, enclosing
from amplifier_hooks.sandbox.enclosing import enclose
from amplifier_hooks.sandbox.linux.landlock import query_abi
from amplifier_hooks.sandbox.wall import Wall


@pytest.fixture
def wall(tmp_path: Path) -> Wall:
    return Wall((tmp_path,), (), (), tmp_path / "private")


def test_without_a_wall_nothing_is_added() -> None:
    """Not even the temporary folder."""
    with enclose(["true"], {"A": "b"}, "/", None) as (order, descriptors):
        assert (order.env, order.profile, descriptors) == ({"A": "b"}, None, [])


@pytest.mark.skipif(query_abi() < 1, reason="THIS KERNEL HAS NO LANDLOCK")
def test_landlock_gets_a_rule_set_and_a_filter(wall: Wall) -> None:
    """The descriptor is closed when the order is on its way; root keeps few of its powers."""
    with enclose(["true"], {}, "/", wall) as (order, descriptors):
        assert order.env == {"TMPDIR": str(wall.temporary)}
        assert order.landlock
        assert order.filter
        assert not order.capabilities >> 21 & 1  # CAP_SYS_ADMIN
        os.fstat(descriptors[0])
    with pytest.raises(OSError, match="Bad file"):
        os.fstat(descriptors[0])


def test_bubblewrap_gets_its_filter_by_descriptor(
    wall: Wall, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before its command line, the wall's; the filter would stop bubblewrap itself."""
    monkeypatch.setattr(bubblewrap, "find_bubblewrap", lambda: "/usr/bin/bwrap")
    with enclose(["echo", "x"], {}, "/", replace(wall, kind="bubblewrap")) as (order, more):
        assert order.argv[0] == "/usr/bin/bwrap"
        assert order.argv[-3:] == ["--", "echo", "x"]
        assert not order.landlock
        assert not order.filter
        assert len(more) == 1
    monkeypatch.setattr(enclosing, "find_architecture", lambda: None)
    with enclose(["true"], {}, "/", replace(wall, kind="bubblewrap")) as (order, more):
        assert (more, order.inherited, "--seccomp" in order.argv) == ([], None, False)


def test_a_wall_of_another_system_is_an_error(wall: Wall) -> None:
    """Rather than no wall."""
    with (
        pytest.raises(ValueError, match="seatbelt"),
        enclose(["true"], {}, "/", replace(wall, kind="seatbelt")),
    ):
        pass


@pytest.mark.skipif(query_abi() < 1, reason="THIS KERNEL HAS NO LANDLOCK")
def test_what_gives_up_something_else_has_another_profile(wall: Wall) -> None:
    """A cell that has given up the network cannot get it back."""

    def number(wall: Wall) -> int | None:
        with enclose(["true"], {}, "/", wall) as (order, _):
            return order.profile

    assert number(wall) == number(replace(wall, writable=()))
    others = [replace(wall, network="deny"), replace(wall, unix_sockets=True)]
    assert len({number(one) for one in (wall, *others)}) == 3
