"""The commands that hooks-shell would run at a tool call."""

from __future__ import annotations

import pytest

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.errors import ModuleLoadError
from amplifier_core.mount_plan import ModuleEntry, MountPlan
from amplifier_hooks.agent.trust.material import Material
from amplifier_hooks.mcp.server.policy.shell_commands import find_commands
from tests.hooks.mcp.server.world import World
from tests.support.trust import look_at

HOOKS = {
    "PreToolUse": [
        {"matcher": "Bash", "hooks": [{"type": "command", "command": "./check.sh --strict"}]},
        {"matcher": "Write", "hooks": [{"type": "command", "command": "./write.sh"}]},
    ],
    "PostToolUse": [{"hooks": [{"type": "command", "command": "./after.sh"}]}],
}


def find(material: Material, tool: str) -> list[str]:
    plan = material.bundle.mount_plan
    (entry,) = [one for one in MountPlan.parse(plan).hooks if one.module == "hooks-shell"]
    host = SessionCoordinator(config=plan, session_id="look")
    return find_commands(entry, material, host, {"tool_name": tool, "tool_input": {}})


def test_only_what_would_be_run_for_this_call_is_named(world: World) -> None:
    """By the matchers of the settings; commands after the call cannot stop it."""
    world.save_bundle(hooks=[{"module": "hooks-shell", "config": {"hooks": HOOKS}}])
    material = look_at(world.project)
    assert find(material, "Bash") == ["./check.sh --strict"]
    assert find(material, "Write") == ["./write.sh"]
    assert find(material, "Read") == []


def test_wrong_options_are_told(world: World) -> None:
    """Then no session starts."""
    material = look_at(world.project, world.save_bundle())
    host = SessionCoordinator(config=material.bundle.mount_plan, session_id="look")
    entry = ModuleEntry(module="hooks-shell", config={"setings": []})
    with pytest.raises(ModuleLoadError, match="setings"):
        find_commands(entry, material, host, {})
