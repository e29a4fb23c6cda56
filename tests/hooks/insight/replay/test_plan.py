"""Today's plan for a replay."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from amplifier_core.mount_plan import read_entry
from amplifier_core.records import HookAnswer
from amplifier_core.testing import TestCoordinator
from amplifier_hooks.insight.replay.plan import (
    AFTER,
    BEFORE,
    MODEL,
    TOOLS,
    ReplayLoader,
    Substitutes,
    build_plan,
    choose_hooks,
    list_acting,
    list_replaced,
)
from amplifier_hooks.insight.replay.playback import Playback
from amplifier_hooks.insight.replay.recording import Run
from amplifier_hooks.trails import RecordedHook
from tests.hooks.insight.replay.items import event
from tests.hooks.insight.replay.test_recording import make

PLAN: dict[str, Any] = {
    "session": {
        "orchestrator": {"module": "loop-basic", "config": {"provider": "x", "max_turns": 3}},
        "context": "context-simple",
    },
    "providers": ["provider-anthropic"],
    "tools": ["tool-bash"],
    "hooks": [
        {"module": "hooks-linter-feedback"},
        {"module": "hooks-notify", "source": "./my_notify.py"},
        {"module": "hooks-cost-control", "config": {"day": {"tokens": 5}}},
        {"module": "hooks-rules"},
    ],
    "agents": {
        "a": {
            "providers": ["provider-openai"],
            "tools": ["Read", {"module": "tool-search"}],
            "hooks": ["hooks-logging"],
        }
    },
    "approval": {"mode": "edits", "via": ["store"], "store": "x.db", "timeout": 5},
    "audit": {"enabled": True, "path": "trails"},
    "sandbox": {"mode": "required"},
}


def test_nothing_of_the_plan_can_act(tmp_path: Path) -> None:
    """No model, no tools, no people, no trail, no files but in a temporary folder."""
    plan = build_plan(PLAN, tmp_path)
    assert plan["providers"] == [{"module": MODEL}]
    assert plan["tools"] == [{"module": TOOLS}]
    assert plan["approval"] == {"mode": "ask", "timeout": 5}
    assert plan["audit"] == {"enabled": False, "path": "trails"}
    assert plan["sandbox"] == {"mode": "off"}
    assert plan["session"]["orchestrator"]["config"] == {"max_turns": 3}
    hooks = [read_entry("hooks", one) for one in plan["hooks"]]
    assert [one.module for one in hooks] == [
        BEFORE,
        "replay-instead-of-hooks-linter-feedback",
        "hooks-notify",
        "hooks-cost-control",
        "hooks-rules",
        AFTER,
    ]
    assert hooks[3].config["file"] == str(tmp_path / "cost.json")


def test_a_bundle_that_lets_nobody_decide_still_does(tmp_path: Path) -> None:
    """That is a decision of today."""
    plan = build_plan({**PLAN, "approval": {"mode": "deny"}}, tmp_path)
    assert plan["approval"] == {"mode": "deny"}


def test_modules_that_do_not_run_are_named_with_the_reason() -> None:
    """A module of the person's own with the same name runs."""
    assert list_acting(PLAN) == {
        "hooks-linter-feedback": "it runs programs",
        "hooks-logging": "it writes files",
    }


def test_what_agents_bring_is_replaced_when_it_is_loaded() -> None:
    """Hooks are told of an agent as it is."""
    assert list_replaced(PLAN) == {
        "provider-openai": MODEL,
        "tool-search": TOOLS,
        "hooks-logging": "replay-instead-of-hooks-logging",
    }


def test_hooks_of_no_module_of_the_bundle_are_stood_in_for_at_their_place() -> None:
    """Before or behind those of the bundle, as they were registered; silent ones are not needed."""
    names = ("early", "linter", "rules", "late", "silent")
    answers = [HookAnswer(name, 0, "modify") for name in names[:-1]]
    recording = make(event("tool:pre", 1, *answers))
    recording.hooks += [
        RecordedHook(1, "early", "tool:pre", 0, kind="tools", module="tool-x"),
        RecordedHook(2, "linter", "tool:pre", 0, kind="hooks", module="hooks-linter-feedback"),
        RecordedHook(3, "rules", "tool:pre", 0, kind="hooks", module="hooks-rules"),
        RecordedHook(4, "late", "tool:pre", 0),
        RecordedHook(5, "silent", "tool:pre", 0),
    ]
    chosen = {
        module: [one.name for one in choose_hooks(recording, module)]
        for module in (BEFORE, AFTER, "replay-instead-of-hooks-linter-feedback")
    }
    assert list(chosen.values()) == [["early"], ["late"], ["linter"]]


PLAN_LOADER = {"agents": {"a": {"providers": ["provider-openai"]}}}


def make_loader(*items: object) -> ReplayLoader:
    """The loader of a replay of these items."""
    playback = Playback(make(*items))
    playback.begin(Run(tuple(playback.recording.sessions["s"]), "ended"))
    return ReplayLoader(Substitutes(playback, PLAN_LOADER))


async def test_stand_ins_are_mounted_by_their_names() -> None:
    """The model that the session had, also for an agent that brings another, and its tools."""
    request = event("provider:request", 1, provider="anthropic", tools=["Bash", "Read"])
    loader = make_loader(request).copy()
    for module in (MODEL, "provider-openai", TOOLS):
        host = TestCoordinator(session_id="s")
        await (await loader.load(module))(host)
        found = {**host.get("providers"), **host.get("tools")}
        assert list(found) == (["Bash", "Read"] if module == TOOLS else ["anthropic"])


async def test_other_modules_are_loaded_as_usual() -> None:
    """Today's hooks are today's."""
    host = TestCoordinator(session_id="s")
    loader = make_loader(event("session:start"))
    await (await loader.load("hooks-datetime", {}, None, host))(host)
    assert host.hooks.list_handlers("prompt:submit")["prompt:submit"] == ["hooks-datetime"]


async def test_what_modules_told_of_before_the_start_is_told_again() -> None:
    """Once everything is mounted."""
    host, heard = TestCoordinator(session_id="s"), list[str]()

    async def compare_next(event: str, data: dict[str, str]) -> None:
        heard.append(data["server"])

    host.hooks.register("mcp:list", compare_next)
    loader = make_loader(event("mcp:list", 1, server="time"), event("session:start", 2))
    mount = await loader.load(AFTER)
    await mount(host)
    _, on_ready = mount.__dict__["__on_session_ready__"]
    await on_ready(host)
    assert heard == ["time"]
