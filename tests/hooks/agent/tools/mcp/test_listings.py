"""Lists of a server pass the hooks before a model reads them."""

from __future__ import annotations

import pytest

from amplifier_core.hooks import HookRegistry
from amplifier_core.testing import TestCoordinator
from amplifier_hooks.agent.tools.mcp.listings import Withheld, judge_list
from tests.support.hooks import asks, modifies, raises, says

ITEMS = [{"name": "add"}, {"name": "sub"}]


async def judge(*hooks, host=None, **options):
    host = host or TestCoordinator()
    for one in hooks:
        host.hooks.register("mcp:list", one, **options)
    return await judge_list(host, "calc", "tools/list", ITEMS)


async def test_without_hooks_everything_is_left():
    """As the server says it."""
    assert await judge() == ITEMS


async def test_a_hook_can_change_and_leave_out():
    """What it leaves is what a model reads."""
    assert await judge(modifies(items=[{"name": "add"}])) == [{"name": "add"}]


async def test_a_hook_can_withhold_all():
    """With its reason."""
    with pytest.raises(Withheld, match="looks poisoned"):
        await judge(says("deny", reason="looks poisoned"))


@pytest.mark.parametrize("items", [None, "add", ["add"]])
async def test_what_is_no_list_any_more_is_withheld(items):
    """Nobody guesses what a hook meant."""
    with pytest.raises(Withheld, match="no usable list"):
        await judge(modifies(items=items))


async def test_a_guard_that_fails_withholds():
    """As everywhere."""
    with pytest.raises(Withheld):
        await judge(raises(RuntimeError("broken")), on_error="deny")


async def test_a_host_that_can_only_emit_is_enough():
    """There nobody can be asked, and what nobody allowed is withheld."""

    class Plain:
        hooks = HookRegistry()

    assert await judge(host=Plain()) == ITEMS
    with pytest.raises(Withheld):
        await judge(asks(), host=Plain())


async def test_a_host_that_fails_withholds():
    """What nobody has judged, nobody reads."""

    class Broken:
        hooks = HookRegistry()

        async def execute_with_hooks(self, event, data):
            raise RuntimeError("broken")

    with pytest.raises(Withheld, match="could not judge it"):
        await judge(host=Broken())
