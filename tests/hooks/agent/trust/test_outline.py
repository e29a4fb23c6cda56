"""What is kept of a plan, so that a later one can be compared with it."""

from __future__ import annotations

import json

import pytest

from amplifier_hooks.agent.trust.comparison import compare_outlines, select
from amplifier_hooks.agent.trust.outline import check_outline, outline_plan

SESSION = {"orchestrator": "loop-basic", "context": "context-simple"}


def test_no_value_of_an_option_is_kept() -> None:
    """Whatever the variable was called that brought it: only digests, which differ if it does."""
    plan = {
        "session": {**SESSION, "limits": {"agent_depth": 2}},
        "providers": [{"module": "p", "config": {"api_key": "sk-hidden-1"}}],
        "hooks": [{"module": "h", "config": {"url": "https://x/?t=hidden-2"}, "priority": 4}],
        "agents": {"a": {"description": "hidden-3", "hooks": [{"module": "i", "config": {}}]}},
        "audit": {"path": "/hidden-4", "level": "full", "sign": "/hidden-5"},
        "sandbox": {"mode": "auto", "write": ["/there"]},
    }
    found = outline_plan(plan)
    assert "hidden" not in json.dumps(found)
    [hook] = found["hooks"]
    assert (hook["module"], hook["priority"], list(hook["config"])) == ("h", 4, ["url"])
    kept = {"level": "full", "sign": True}
    assert found["audit"] == {"path": found["audit"]["path"], "key": found["audit"]["key"], **kept}
    assert found["sandbox"] == {"mode": "auto", "write": ["/there"]}
    plan["hooks"][0]["config"] = {"url": "https://y"}  # type: ignore[index]
    assert outline_plan(plan)["hooks"] != found["hooks"]


def test_an_outline_is_a_plan_of_its_own() -> None:
    """So it can be read again, after having been kept."""
    found = outline_plan({"session": SESSION, "hooks": ["h"], "agents": {"a": {}}})
    assert outline_plan(json.loads(json.dumps(found)))["hooks"][0]["module"] == "h"


def test_a_guard_counts_as_required_until_its_entry_says_otherwise() -> None:
    """So that whoever lets it be missing is told what that takes away, in an agent too."""
    hooks = [{"module": "hooks-rules"}, {"module": "hooks-logging"}]
    optional = [{**one, "required": False} for one in hooks]
    before, after = (
        outline_plan({"session": SESSION, "hooks": one, "agents": {"a": {"hooks": one}}})
        for one in (hooks, optional)
    )
    assert [one["required"] for one in before["hooks"]] == [True, False]
    told = [one.sentence for one in select(compare_outlines(before, after), "weaker")]
    sentence = "hooks-rules would no longer be required"
    assert told == [sentence, f"agent a: {sentence}"]
    assert select(compare_outlines(after, before), "weaker") == []


def test_a_token_has_no_part_in_an_outline() -> None:
    """Another token is not another bundle, and not even its digest is kept."""
    plan = {
        "session": {"orchestrator": "loop-basic", "context": "context-simple"},
        "approval": {"via": "server", "server": "https://host.test", "token": "t0ken-t0ken"},
    }
    assert outline_plan(plan)["approval"].keys() == {"via", "server"}


def test_who_is_asked_is_read_back_from_an_outline() -> None:
    """An outline is read as a plan; what could not be read would count as never trusted."""
    asking = {"via": ["store"], "persons": 2, "requester_may_approve": False, "scope": "release"}
    plan = {
        "session": {"orchestrator": "loop-basic", "context": "context-simple"},
        "approval": asking,
    }
    once = outline_plan(plan)
    assert once["approval"] == asking
    assert outline_plan(once)["approval"] == asking


def test_shadow_mode_is_part_of_it() -> None:
    """Only where it is on: what was trusted before there was such a mode stays trusted."""
    assert outline_plan({"session": {**SESSION, "evaluate_only": True}})["session"]["evaluate_only"]
    assert "evaluate_only" not in outline_plan({"session": SESSION})["session"]


def test_a_hook_that_is_put_into_shadow_mode_is_weaker_in_the_outline() -> None:
    """In the session and in an agent; an entry that says nothing is outlined as it ever was."""
    hooks = [{"module": "hooks-rules"}]
    shadows = [{"module": "hooks-rules", "mode": "shadow"}]
    before, after = (
        outline_plan({"session": SESSION, "hooks": one, "agents": {"a": {"hooks": one}}})
        for one in (hooks, shadows)
    )
    assert "mode" not in before["hooks"][0]
    told = [one.sentence for one in select(compare_outlines(before, after), "weaker")]
    sentence = "hooks-rules would have no effect any more: mode would be shadow"
    assert told == [sentence, f"agent a: {sentence}"]
    assert select(compare_outlines(after, before), "weaker") == []


def test_the_parts_of_a_guards_options_are_kept_without_their_texts() -> None:
    """Of each part a digest, so that one more or one less can be told; rules by their names."""
    rule = {"name": "no-push", "action": "deny", "reason": "hidden", "regex": "hidden"}
    hooks = [
        {"module": "hooks-rules", "config": {"rules": [rule], "timeout": 5}},
        {"module": "hooks-notify", "config": {"webhook": "hidden", "chat": 4711}},
    ]
    found = outline_plan({"session": SESSION, "hooks": hooks})["hooks"]
    [kept] = found[0]["options"]["rules"]
    assert (kept["name"], found[0]["options"]["timeout"]) == ("no-push", 5)
    assert kept.keys() == rule.keys()
    assert "options" not in found[1]
    assert not any(text in json.dumps(found) for text in ("hidden", "4711"))


@pytest.mark.parametrize("key", ["session", "providers", "tools", "hooks", "agents", "approval"])
@pytest.mark.parametrize("value", [None, 7, "text", [7], {"a": 7}])
def test_what_is_no_outline_is_refused(key: str, value: object) -> None:
    """A record that somebody damaged, or that another version has written."""
    found = outline_plan({"session": SESSION, "hooks": ["h"], "agents": {"a": {}}})
    check_outline(json.loads(json.dumps(found)))
    if key == "approval" and value == {"a": 7}:
        return  # a section may have any key
    with pytest.raises(TypeError, match="was expected in an outline"):
        check_outline({**found, key: value})
