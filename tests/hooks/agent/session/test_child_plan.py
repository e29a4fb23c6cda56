"""The plan of a sub-agent, from its parent's plan and its own entry."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.mount_plan import MountPlan
from amplifier_hooks.agent.session.child_plan import (
    apply_session_options,
    build_child_plan,
    list_allowed_tools,
    list_own_tool_modules,
)

PARENT: dict[str, Any] = {
    "session": {
        "orchestrator": {
            "module": "loop-basic",
            "config": {"system": "Parent.", "max_turns": 9, "provider": "big", "retry_delay": 1},
        },
        "context": "context-simple",
        "instructions": "Parent.",
        "debug": True,
    },
    "providers": ["provider-big"],
    "tools": ["tool-filesystem", "tool-bash"],
    "hooks": ["hooks-command-guard"],
    "agents": {"helper": {}},
    "approval": {"mode": "deny"},
    "audit": {"enabled": True},
}
SEARCH = {"module": "tool-search", "config": {}}


def made(**agent: Any) -> dict[str, Any]:
    return build_child_plan(PARENT, {"description": "Helps.", **agent})


def test_a_child_has_what_its_parent_has_except_the_hooks() -> None:
    """The parent's hooks mediate it through the registry; mounted again they would run twice."""
    plan = made()
    for key in ("providers", "tools", "agents", "approval", "audit"):
        assert plan[key] == PARENT[key]
    assert plan["hooks"] == []
    assert plan["session"]["debug"] is True
    MountPlan.parse(plan)


def test_its_own_hooks_and_providers_are_its_own() -> None:
    """They stand in place of the parent's."""
    plan = made(hooks=["hooks-datetime"], providers=["provider-small"])
    assert plan["hooks"] == ["hooks-datetime"]
    assert plan["providers"] == ["provider-small"]


def test_nothing_of_the_parents_plan_is_shared() -> None:
    """What the child's modules do to their plan, the parent never sees."""
    made()["providers"].append("x")
    made()["session"]["orchestrator"]["config"]["retry_delay"] = 7
    assert PARENT["providers"] == ["provider-big"]
    assert PARENT["session"]["orchestrator"]["config"]["retry_delay"] == 1


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        ({}, {"max_turns": 9, "provider": "big", "retry_delay": 1}),
        ({"session": {"max_turns": 2}}, {"provider": "big", "retry_delay": 1}),
        ({"providers": ["p"]}, {"max_turns": 9, "retry_delay": 1}),
        ({"session": {"orchestrator": {"module": "loop-streaming"}}}, None),
    ],
)
def test_options_of_the_parents_loop_give_way_to_the_agents_settings(
    agent: dict[str, Any], expected: dict[str, Any] | None
) -> None:
    """The system prompt always, the others where the agent says something else."""
    loop = made(**agent)["session"]["orchestrator"]
    if expected is None:
        assert loop == {"module": "loop-streaming"}
    else:
        assert loop == {"module": "loop-basic", "config": expected}


@pytest.mark.parametrize("loop", ["loop-basic", {"module": "loop-basic"}])
def test_a_loop_may_be_written_short(loop: Any) -> None:
    """A bare id works like an entry."""
    parent = {**PARENT, "session": {"orchestrator": loop, "context": "context-simple"}}
    plan = apply_session_options(
        build_child_plan(parent, {"description": "Helps.", "instructions": "Go."})
    )
    assert plan["session"]["orchestrator"] == {"module": "loop-basic", "config": {"system": "Go."}}


def test_instructions_replace_those_of_the_parent() -> None:
    """An agent without any is told what it is for."""
    assert made(instructions="Be strict.")["session"]["instructions"] == "Be strict."
    assert made()["session"]["instructions"] == "You are a sub-agent. What you are for: Helps."


@pytest.mark.parametrize(
    ("listed", "modules", "allowed", "own"),
    [
        (None, PARENT["tools"], None, []),
        (["Read"], PARENT["tools"], frozenset({"Read"}), []),
        ([SEARCH], [SEARCH], None, ["tool-search"]),
        (["Read", SEARCH], [*PARENT["tools"], SEARCH], frozenset({"Read"}), ["tool-search"]),
        ([], [], None, []),
    ],
)
def test_named_tools_come_from_the_parents_modules(
    listed: list[Any] | None, modules: list[Any], allowed: frozenset[str] | None, own: list[str]
) -> None:
    """Names choose among the parent's tools; modules are the agent's own; an empty list is none."""
    agent = {"description": "Helps."} | ({} if listed is None else {"tools": listed})
    assert build_child_plan(PARENT, agent)["tools"] == modules
    assert list_allowed_tools(agent) == allowed
    assert [entry.module for entry in list_own_tool_modules(agent)] == own


@pytest.mark.parametrize(
    ("session", "expected"),
    [
        ({"orchestrator": "o"}, "o"),
        ({"orchestrator": "o", "max_turns": 3}, {"module": "o", "config": {"max_turns": 3}}),
        (
            {"orchestrator": "o", "max_turns": 3, "instructions": "Hi."},
            {"module": "o", "config": {"max_turns": 3, "system": "Hi."}},
        ),
        (
            {"orchestrator": {"module": "o", "config": {"max_turns": 1}}, "max_turns": 3},
            {"module": "o", "config": {"max_turns": 1}},
        ),
        (
            {"orchestrator": {"module": "o", "source": "./o.py", "config": None}, "max_turns": 3},
            {"module": "o", "source": "./o.py", "config": {"max_turns": 3}},
        ),
    ],
)
def test_settings_of_the_session_are_options_of_the_loop(
    session: dict[str, Any], expected: Any
) -> None:
    """Unless the loop's own options say something else; the plan that was given is not changed."""
    plan = {"session": session, "tools": []}
    before = repr(plan)
    assert apply_session_options(plan)["session"]["orchestrator"] == expected
    assert repr(plan) == before
