"""A key that misspells one of ours is refused, any other that nobody knows is told once."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_core.mount_plan import ModuleEntry, MountPlan, check_plan, read_entry
from amplifier_core.mount_plan import schema as plan_keys
from amplifier_core.mount_plan.schema import find_misspelt, judge_keys
from amplifier_core.session import AmplifierSession
from amplifier_hooks.agent.bundles import mount_plan_problems

SESSION = {"orchestrator": "loop-basic", "context": "context-simple"}


@pytest.fixture(autouse=True)
def _forget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan_keys, "_told", set())


@pytest.mark.parametrize(
    ("plan", "problem"),
    [
        ({"hoks": []}, "hoks: unknown key 'hoks'; did you mean 'hooks'?"),
        ({"hook": []}, "hook: unknown key 'hook'; did you mean 'hooks'?"),
        ({"aproval": {}}, "aproval: unknown key 'aproval'; did you mean 'approval'?"),
        ({"sandbx": "off"}, "sandbx: unknown key 'sandbx'; did you mean 'sandbox'?"),
        ({"session": {"max_turn": 1}}, "session.max_turn: unknown key 'max_turn'; did"),
        ({"session": {"limits": {"agent_dept": 1}}}, "session.limits.agent_dept: unknown key"),
        ({"approval": {"timout": 5}}, "approval.timout: unknown key 'timout'; did you"),
    ],
)
def test_a_misspelt_key_is_refused_at_every_level(plan: dict[str, Any], problem: str) -> None:
    """What it was meant to say would silently not hold."""
    whole = {**plan, "session": {**SESSION, **plan.get("session", {})}}
    assert str(find_misspelt(whole)).startswith(problem)
    with pytest.raises(ValueError, match=r"The mount plan: .*did you mean"):
        AmplifierSession(whole)


@pytest.mark.parametrize("key", ["requird", "lockd", "confg", "priorty", "Required"])
def test_a_misspelt_key_of_an_entry_is_refused(key: str) -> None:
    """In whichever list it stands, also in that of an agent."""
    with pytest.raises(ModuleLoadError, match=f"Module 'x': {key}: unknown key .* did you mean"):
        read_entry("hooks", {"module": "x", key: True})


def test_other_keys_are_kept_and_told_once(caplog: pytest.LogCaptureFixture) -> None:
    """Applications of the ecosystem write their own into plans and entries."""
    entry = {"module": "x", "profile": "a"}
    plan = {"session": {**SESSION, "auto_compact": True}, "ui": {}, "x-mine": 1, "tools": [entry]}
    with caplog.at_level(logging.WARNING, logger="amplifier_core"):
        for _ in range(2):
            read = MountPlan.parse(plan).to_dict()
    assert (read["ui"], read["tools"][0]["profile"]) == ({}, "a")
    told = [one.getMessage() for one in caplog.records]
    assert [one.partition(";")[0] for one in told] == [
        "ui: unknown key 'ui'",
        "session.auto_compact: unknown key 'auto_compact'",
        "profile: unknown key 'profile'",
    ]


def test_keys_that_existing_plans_carry_are_known(caplog: pytest.LogCaptureFixture) -> None:
    """Options and sources beside the session, metadata, instances of providers."""
    plan = {
        "session": {**SESSION, "orchestrator_source": None, "metadata": {}, "raw": True},
        "orchestrator": {"config": {}},
        "context": {"config": {}},
        "providers": [{"module": "p", "source": "git+https://host.test/p", "instance_id": "i"}],
        "agents": {"a": {"instruction": "anything", "meta": {}}},
    }
    check_plan(plan)
    MountPlan.parse(plan)
    assert caplog.records == []


def test_what_the_kernel_knows_is_what_a_bundle_may_say() -> None:
    """A key that one of the two learns, the other learns too."""
    anything: dict[str, Any] = {"session": dict.fromkeys(plan_keys.SESSION, ...)}
    anything |= dict.fromkeys(plan_keys.PLAN - {"session", "approval"}, ...)
    anything["session"]["limits"] = dict.fromkeys(plan_keys.LIMITS, ...)
    anything["approval"] = dict.fromkeys(plan_keys.APPROVAL, ...)
    anything["hooks"] = [dict.fromkeys(plan_keys.ENTRY, ...)]
    told = " ".join(str(one) for one in mount_plan_problems(anything))
    assert "must be" in told
    assert "unknown key" not in told
    assert ModuleEntry.model_fields.keys() | {"enabled"} == plan_keys.ENTRY


def test_known_keys_and_ones_own_pass() -> None:
    """Keys that begin with x- are for the author's own use."""
    assert judge_keys({"module": 1, "x-note": 2}, plan_keys.ENTRY) is None
