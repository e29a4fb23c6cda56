"""Mount points: what may be mounted where, and under which name."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.host import NAMED, SINGLE, MountPoints
from amplifier_core.testing import MemoryContext


class Named:
    name = "Write"


@pytest.fixture
def points() -> MountPoints:
    return MountPoints("the registry")


def test_at_first_nothing_is_mounted_but_the_registry(points: MountPoints) -> None:
    """None where one module belongs, an empty dict where several may."""
    assert {point: points.get(point) for point in SINGLE} == dict.fromkeys(SINGLE)
    assert {point: points.get(point) for point in NAMED} == {point: {} for point in NAMED}
    assert points.get("hooks") == "the registry"


@pytest.mark.parametrize("point", SINGLE)
def test_one_module_replaces_another(points: MountPoints, point: str) -> None:
    """There is one loop, one context, one resolver."""
    points.mount(point, "first")
    points.mount(point, "second", "a name that nobody needs")
    assert points.get(point) == points.get(point, "any") == "second"
    points.unmount(point)
    points.unmount(point)
    assert points.get(point) is None


@pytest.mark.parametrize("point", NAMED)
def test_several_modules_have_names(points: MountPoints, point: str) -> None:
    """Their own, unless the caller gives another; the same name replaces."""
    own, other = Named(), Named()
    points.mount(point, own)
    points.mount(point, other, "Other")
    assert points.get(point) == {"Write": own, "Other": other}
    assert points.get(point, "Write") is own
    assert points.get(point, "Nope") is None
    points.mount(point, other)
    assert points.get(point, "Write") is other
    points.unmount(point, "Write")
    points.unmount(point, "Write")
    assert points.get(point) == {"Other": other}


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (("mount", "toolz", 1), r"Unknown mount point 'toolz'; have \w+, \w+"),
        (("mount", "hooks", 1), "Hooks should be registered with"),
        (("mount", "tools", object()), "Name required to mount at 'tools'"),
        (("mount", "tools", object(), ""), "Name required to mount at 'tools'"),
        (("unmount", "tools"), "Name required to unmount from 'tools'; have Write"),
        (("unmount", "hooks"), "Cannot unmount 'hooks'"),
        (("unmount", "toolz"), "Unknown mount point"),
        (("get", "toolz"), "Unknown mount point"),
    ],
)
def test_a_wrong_place_or_a_missing_name_is_said(
    points: MountPoints, call: tuple[Any, ...], text: str
) -> None:
    """With what would do."""
    points.mount("tools", Named())
    method, *arguments = call
    with pytest.raises(ValueError, match=text):
        getattr(points, method)(*arguments)


async def test_modules_mount_through_the_coordinator() -> None:
    """It awaits, and its context is the one that is mounted."""
    first = MemoryContext()
    coordinator = SessionCoordinator(context=first)
    assert coordinator.get("context") is coordinator.context is first
    await coordinator.mount("context", "second")
    await coordinator.mount("tools", Named())
    assert coordinator.context == "second"  # type: ignore[comparison-overlap]
    assert coordinator.get("hooks") is coordinator.hooks
    assert list(coordinator.mount_points["tools"]) == ["Write"]
    await coordinator.unmount("tools", "Write")
    assert coordinator.get("tools") == {}
