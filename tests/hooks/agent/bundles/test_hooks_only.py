"""A bundle's plan for an agent that another program runs: its hooks, and nothing that acts."""

from __future__ import annotations

from typing import Any

from amplifier_hooks.agent.bundles.mount_plan import keep_hooks_only

PLAN: dict[str, Any] = {
    "session": {"orchestrator": "loop-streaming", "context": "context-x", "debug": True},
    "providers": ["provider-anthropic"],
    "tools": ["tool-bash"],
    "agents": {"helper": {}},
    "hooks": [
        "hooks-command-guard",
        {"module": "hooks-session-naming"},
        {"module": "hooks-progress-monitor", "config": {"interval": 3}},
        {"module": "hooks-progress-monitor", "name": "loud", "config": {"show": True}},
    ],
    "approval": {"via": "store"},
    "audit": {"enabled": True},
    "sandbox": {"mode": "strict"},
}


def test_nothing_that_acts_is_left() -> None:
    """No model, tools or sub-agents; the other program has its own."""
    kept = keep_hooks_only(PLAN)
    assert (kept["providers"], kept["tools"], kept["agents"]) == ([], [], {})
    assert kept["sandbox"] == {"mode": "off"}
    assert kept["session"]["orchestrator"] == "loop-basic"


def test_everything_that_governs_is_left() -> None:
    """Options of the session, who is asked, the trail, and the hooks that need no model."""
    kept = keep_hooks_only(PLAN)
    assert kept["session"]["debug"] is True
    assert (kept["approval"], kept["audit"]) == (PLAN["approval"], PLAN["audit"])
    names = [one if isinstance(one, str) else one["module"] for one in kept["hooks"]]
    assert names == ["hooks-command-guard", "hooks-progress-monitor", "hooks-progress-monitor"]


def test_progress_is_left_to_the_other_program_unless_it_is_asked_for() -> None:
    """Lines of ours would stand between its own."""
    _, quiet, loud = keep_hooks_only(PLAN)["hooks"]
    assert quiet["config"] == {"interval": 3, "show": False}
    assert loud["config"] == {"show": True}
    assert PLAN["hooks"][2]["config"] == {"interval": 3}


def test_the_other_program_decides_how_many_calls_run_at_once() -> None:
    """Unless the bundle says so: calls may wait for one another."""
    assert keep_hooks_only(PLAN)["session"]["limits"] == {"tool_calls_at_once": None}
    limited = {**PLAN, "session": {**PLAN["session"], "limits": {"tool_calls_at_once": 2}}}
    assert keep_hooks_only(limited)["session"]["limits"] == {"tool_calls_at_once": 2}


def test_the_model_that_judges_questions_is_left() -> None:
    """It is not the other program's model; without the judge there is none."""
    judged = {**PLAN, "hooks": [*PLAN["hooks"], {"module": "hooks-model-judge"}]}
    assert keep_hooks_only(judged)["providers"] == ["provider-anthropic"]
