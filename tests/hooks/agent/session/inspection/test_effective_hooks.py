"""The hooks of a bundle, mounted to be looked at."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_core.events import ALL_EVENTS
from amplifier_hooks.agent.session.inspection.effective_hooks import mount_hooks
from amplifier_hooks.agent.trust.material import Material, collect_material
from tests.support.project import Project

HOOKS = """
from amplifier_core.models import HookResult

async def on_tool_pre(event, data):
    return HookResult(action="deny", reason="no")
"""
AFTER = """
async def mount(coordinator, config):
    async def look(event, data):
        return None
    coordinator.hooks.register("my:event", look, name="looker")
    coordinator.hooks.register("tool:*", look, 900, "looker", timeout=2.5)
"""


@pytest.fixture
def material(project: Project) -> Material:
    """Two modules of one's own, and one that does not exist."""
    project.write("mine.py", HOOKS)
    project.write("after.py", AFTER)
    hooks = [{"module": "./mine.py", "priority": 7}, {"module": "./after.py"}, "hooks-not-there"]
    return collect_material(project.bundle(hooks=hooks), project.folder)


async def test_a_row_says_where_a_hook_stands_and_where_it_came_from(material: Material) -> None:
    """In the order in which they run; a pattern is named as it was registered."""
    async with mount_hooks(material) as found:
        first, second = found.list_rows("tool:pre")
    assert (first.order, first.priority, first.hook) == (1, 7, "mine.on_tool_pre")
    assert first.source.endswith("mine.py")
    assert (second.order, second.priority, second.hook) == (2, 900, "looker")
    assert (second.timeout, second.registered_for, second.on_error) == (2.5, "tool:*", "continue")
    assert second.source.endswith("after.py")


async def test_events_come_in_the_order_of_a_session_then_those_of_ones_own(
    material: Material,
) -> None:
    """Every event of the reference once, under its one name."""
    async with mount_hooks(material) as found:
        events = found.list_events()
    assert [event for event in events if event in ALL_EVENTS] == events[:-1]
    assert events[-1] == "my:event"
    assert len(set(events)) == len(events)


async def test_a_module_that_could_not_be_mounted_is_told_with_its_reason(
    material: Material,
) -> None:
    """The others are there all the same."""
    async with mount_hooks(material) as found:
        (failure,) = found.failures
    assert "hooks-not-there" in failure


async def test_a_trace_keeps_answers_and_times_and_carries_out_nothing(material: Material) -> None:
    """A hook behind a denial is not reached."""
    async with mount_hooks(material) as found:
        run, watch = await found.trace("tool:pre", {"tool_name": "Bash", "tool_input": {}})
    assert [(answer.hook, answer.result.action) for answer in run.all_answers] == [
        ("mine.on_tool_pre", "deny")
    ]
    assert [handler.name for handler in run.handlers[run.ran :]] == ["looker"]
    assert list(watch.seconds) == [run.all_answers[0].handler.id]
    assert watch.seconds[run.all_answers[0].handler.id] > 0


async def test_at_the_end_everything_is_unmounted(material: Material) -> None:
    """Looking leaves nothing behind."""
    async with mount_hooks(material) as found:
        assert found.list_rows("tool:pre")
    assert found.list_rows("tool:pre") == []


async def test_of_a_module_that_is_not_wanted_nothing_runs(
    project: Project, tmp_path: Path
) -> None:
    """Not even its import; the others keep their places."""
    left = tmp_path / "was-imported"
    project.write("acts.py", f"open({str(left)!r}, 'w').close()\n" + HOOKS)
    project.write("after.py", AFTER)
    bundle = project.bundle(hooks=["./acts.py", "./after.py"])
    material = collect_material(bundle, project.folder)
    async with mount_hooks(material, lambda entry: "after" in entry.module) as found:
        (row,) = found.list_rows("tool:pre")
    assert row.hook == "looker"
    assert not left.exists()
