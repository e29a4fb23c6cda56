"""The tools about the bundle."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.errors import ModuleLoadError
from amplifier_core.mount_plan import ModuleEntry, MountPlan
from amplifier_hooks.agent.trust.material import Material
from amplifier_hooks.mcp.server.bundle_tools import (
    Verdict,
    describe_approvers,
    describe_rules,
    explain_verdict,
    list_shell_commands,
)
from tests.hooks.mcp.server.world import World, read
from tests.support.trust import look_at

OWN_HOOK = """
from pathlib import Path
Path("was-imported").touch()

async def on_tool_pre(event, data):
    from amplifier_core.models import HookResult
    Path("was-called").touch()
    return HookResult(action="deny", reason="mine")
"""
RULES = [
    {
        "name": "tidy",
        "tool": "Write",
        "path": "*.tmp",
        "action": "modify",
        "data": {"tool_input": {"file_path": "tidy.txt"}},
    },
    {"name": "hint", "tool": "Grep", "action": "inject_context", "context_injection": "Use rg."},
]


def bash(command: str) -> dict[str, Any]:
    return {"tool_name": "Bash", "tool_input": {"command": command}}


async def test_a_denial_is_told_with_its_hook_and_reason(world: World) -> None:
    """And that nothing happened yet."""
    told = read(await world.call("check_call", bash("rm -rf /")))
    assert told["answer"] == "deny"
    assert told["enforced"] is True
    denied = told["answers"][-1]
    assert (denied["hook"], denied["action"]) == ("hooks-command-guard", "deny")
    assert "recursive-delete" in denied["reason"]
    assert "Advice, not permission" in told["note"]


async def test_a_question_is_told_with_its_options_and_who_is_asked(world: World) -> None:
    """Nobody is: there is not even a store."""
    world.save_bundle(approval={"via": "store", "persons": 2})
    told = read(await world.call("check_call", bash("$TOOL --now")))
    assert told["answer"] == "ask_user"
    (question,) = [one["question"] for one in told["answers"] if one["question"]]
    assert question["prompt"].startswith("Run this command?")
    assert question["without_answer"] == "deny"
    assert told["people"]["persons"] == 2
    assert "amplifier approvals" in told["people"]["asked"]
    assert not world.store.exists()


async def test_what_no_hook_minds_may_go_on_as_far_as_limits_let_it(world: World) -> None:
    """The default bundle watches whether a session repeats itself."""
    reply = await world.call("check_call", bash("ls"))
    told = read(reply)
    assert told["answer"] == "continue"
    assert [(one["module"], one["kind"]) for one in told["not_asked"]] == [
        ("hooks-progress-monitor", "depends")
    ]
    assert reply.text.startswith("No hook that was asked would stop or change this call. What")


async def test_a_change_is_told_with_the_input_that_would_run(world: World) -> None:
    """And an injection with its text."""
    world.save_bundle(hooks=[{"module": "hooks-rules", "config": {"rules": RULES}}])
    arguments = {"tool_name": "Write", "tool_input": {"file_path": "x.tmp", "content": "a"}}
    told = read(await world.call("check_call", arguments))
    assert told["answer"] == "modify"
    assert told["changed_input"]["file_path"] == "tidy.txt"
    told = read(await world.call("check_call", {"tool_name": "Grep", "tool_input": {}}))
    assert told["answer"] == "inject_context"
    assert [one["injects"] for one in told["answers"] if one["injects"]] == [["Use rg."]]
    assert told["changed_input"] is None


async def test_a_hook_of_ones_own_is_not_even_imported(world: World) -> None:
    """What it would say is unknown; what others deny is denied all the same."""
    (world.project / "mine.py").write_text(OWN_HOOK)
    world.save_bundle(hooks=["./mine.py"])
    before = world.digest()
    told = read(await world.call("check_call", bash("ls")))
    assert told["answer"] == "unknown"
    assert ("mine (mine.py)", "runs code") in [
        (one["module"], one["kind"]) for one in told["not_asked"]
    ]
    assert read(await world.call("check_call", bash("rm -rf /")))["answer"] == "deny"
    assert world.digest() == before


async def test_a_hook_that_a_person_vouches_for_is_asked(world: World) -> None:
    """By the name of its file, as in the bundle."""
    (world.project / "mine.py").write_text(OWN_HOOK)
    world.save_bundle(hooks=["./mine.py"])
    told = read(await world.call("check_call", bash("ls"), evaluated=("./mine.py",)))
    assert told["answer"] == "deny"
    assert [one["reason"] for one in told["answers"] if one["action"] == "deny"] == ["mine"]


async def test_commands_of_shell_hooks_are_named_and_not_run(world: World) -> None:
    """Only those that are for this call make the answer unknown."""
    entry = {"matcher": "Bash", "hooks": [{"type": "command", "command": "touch was-run"}]}
    config = {"hooks": {"PreToolUse": [entry]}}
    world.save_bundle(hooks=[{"module": "hooks-shell", "config": config}])
    before = world.digest()
    told = read(await world.call("check_call", bash("ls")))
    assert told["answer"] == "unknown"
    assert ["touch was-run"] in [one["would_run"] for one in told["not_asked"]]
    told = read(await world.call("check_call", {"tool_name": "Read", "tool_input": {}}))
    assert told["answer"] == "continue"
    assert world.digest() == before


async def test_asking_counts_for_no_limit_and_leaves_nothing(world: World) -> None:
    """Rate limits, logs and backups: a hundred questions, and not a byte is different."""
    (world.project / "a.txt").write_text("kept")
    limit = {"tools": {"Write": {"calls": 1, "seconds": 3600}}}
    world.save_bundle(
        hooks=[
            {"module": "hooks-rate-limit", "config": limit},
            {"module": "hooks-logging", "config": {"path": "events.jsonl"}},
            {"module": "hooks-backup"},
            {"module": "hooks-notify"},
        ]
    )
    before = world.digest()
    arguments = {"tool_name": "Write", "tool_input": {"file_path": "a.txt", "content": "b"}}
    async with world.open() as toolbox:
        told = [read(await toolbox.call("check_call", arguments)) for _ in range(20)]
    assert {one["answer"] for one in told} == {"continue"}
    assert "hooks-rate-limit" in [one["module"] for one in told[0]["not_asked"]]
    assert world.digest() == before


async def test_a_guard_that_cannot_be_used_leaves_the_answer_open(world: World) -> None:
    """No session would start without it."""
    world.save_bundle(hooks=[{"module": "hooks-rules", "config": {"rules": [{"action": "deny"}]}}])
    told = read(await world.call("check_call", bash("ls")))
    assert told["answer"] == "unknown"
    assert any("cannot be used" in one["why"] for one in told["not_asked"])


async def test_in_shadow_mode_it_is_said_that_nothing_is_enforced(world: World) -> None:
    """The answer is what would be recorded."""
    world.save_bundle(session={"evaluate_only": True})
    reply = await world.call("check_call", bash("rm -rf /"))
    assert read(reply)["enforced"] is False
    assert read(reply)["answer"] == "deny"
    assert "shadow mode" in reply.text


async def test_a_single_hook_in_shadow_mode_does_not_decide_the_answer(world: World) -> None:
    """What it would say is shown beside the answer that counts."""
    deny = {"name": "no-ls", "tool": "Bash", "action": "deny", "reason": "no"}
    entry = {"module": "hooks-rules", "config": {"rules": [deny]}}
    world.save_bundle(hooks=[{**entry, "mode": "shadow"}])
    told = read(await world.call("check_call", bash("ls")))
    assert told["answer"] == "continue"
    assert [(one["action"], one["shadow"]) for one in told["answers"] if one["shadow"]] == [
        ("deny", True)
    ]
    world.save_bundle(hooks=[entry])
    assert read(await world.call("check_call", bash("ls")))["answer"] == "deny"


async def test_a_bundle_that_nobody_trusts_is_not_asked(world: World) -> None:
    """No session starts with it."""
    world.save_bundle(trusted=False)
    reply = await world.call("check_call", bash("ls"))
    assert reply.is_error
    assert "amplifier trust" in reply.text


async def test_a_call_that_is_none_is_refused(full_world: World) -> None:
    """With the argument that is wrong."""
    cases: list[dict[str, Any]] = [{}, {"tool_name": ""}, {"tool_name": "x", "tool_input": []}]
    async with full_world.open() as toolbox:
        for arguments in cases:
            reply = await toolbox.call("check_call", arguments)
            assert reply.is_error
            assert reply.text.startswith("check_call: tool_")


async def test_guards_that_tools_bring_along_are_named(full_world: World) -> None:
    """Bash asks about what the sandbox refuses; tools of servers may have changed."""
    needs = {"command": "ls", "needs": {"network": True, "reason": "to fetch"}}
    async with full_world.open() as toolbox:
        bash_call = {"tool_name": "Bash", "tool_input": needs}
        told = read(await toolbox.call("check_call", bash_call))
        assert (told["answer"], told["not_asked"][-1]["module"]) == ("unknown", "tool-bash")
        told = read(await toolbox.call("check_call", {"tool_name": "mcp__time__now"}))
        assert (told["answer"], told["not_asked"][-1]["module"]) == ("continue", "tool-mcp")


async def test_a_hook_that_fails_is_told_with_its_error(
    world: World,
) -> None:
    """As it would in a session."""
    (world.project / "mine.py").write_text(
        "async def on_tool_pre(event, data):\n    raise KeyError('x')\n"
    )
    world.save_bundle(hooks=[{"module": "./mine.py", "config": {}}])
    told = read(await world.call("check_call", bash("ls"), evaluated=("mine",)))
    failed = [one for one in told["answers"] if one["error"]]
    assert [one["hook"] for one in failed] == ["mine.on_tool_pre"]
    assert "KeyError" in failed[0]["error"]


@pytest.mark.parametrize(
    ("section", "told"),
    [
        ({}, "the person at the terminal of the session"),
        ({"mode": "deny", "via": "store"}, "nobody is asked"),
        ({"mode": "edits"}, "edits of files in this folder are allowed without asking"),
        ({"via": ["terminal", "store"]}, "terminal of the session and people who answer with"),
        ({"via": "server"}, "people at the server that the bundle names"),
    ],
)
def test_each_way_to_people_is_told_in_words(section: dict[str, object], told: str) -> None:
    """As the section `approval` has it."""
    assert told in describe_approvers(section).asked


def test_how_many_must_allow_is_told_and_no_address_or_token() -> None:
    """What opens the way to people is none of the agent's business."""
    section = {
        "via": "server",
        "server": "https://approvals.example.com",
        "token": "t0ps3cret",
        "persons": 2,
        "requester_may_approve": False,
        "scope": "release",
    }
    people = describe_approvers(section)
    assert (people.persons, people.requester_may_approve, people.scope) == (2, False, "release")
    assert "t0ps3cret" not in people.model_dump_json()
    assert "example.com" not in people.model_dump_json()


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
    return list_shell_commands(entry, material, host, {"tool_name": tool, "tool_input": {}})


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
        list_shell_commands(entry, material, host, {})


@pytest.mark.parametrize("answer", get_args(Verdict))
def test_every_answer_has_its_sentence(answer: str) -> None:
    """The session is mentioned where it could still matter, shadow mode always."""
    plain = explain_verdict(answer, enforced=True, depends=False)
    assert plain.endswith(".")
    dependent = explain_verdict(answer, enforced=True, depends=True)
    assert ("may still stop it" in dependent) == (answer not in ("deny", "unknown"))
    assert "shadow mode" in explain_verdict(answer, enforced=False, depends=False)


RULE = {"name": "no-vault", "path": "vault/**", "action": "deny", "reason": "Ask Ann first"}


async def test_a_hook_in_shadow_mode_is_no_guard(world: World) -> None:
    """It is listed with a mark, since what it says has no effect."""
    entry = {"module": "hooks-rules", "config": {"rules": [RULE]}, "mode": "shadow"}
    world.save_bundle(hooks=[entry])
    told = read(await world.call("list_hooks", {"event": "tool:pre"}))
    marked = [one for one in told["hooks"] if one["shadow"]]
    assert [(one["hook"], one["guard"]) for one in marked] == [("hooks-rules", False)]


async def test_hooks_come_in_their_order_with_what_they_are(world: World) -> None:
    """Guards, their time limits, the rules in words, and what nobody looked into."""
    (world.project / "mine.py").write_text("raise SystemExit\n")
    world.save_bundle(
        hooks=[{"module": "hooks-rules", "config": {"rules": [RULE]}}, "./mine.py", "hooks-otel"]
    )
    before = world.digest()
    told = read(await world.call("list_hooks", {"event": "tool:pre"}))
    orders = [one["order"] for one in told["hooks"]]
    assert orders == list(range(1, len(orders) + 1))
    guards = {one["hook"] for one in told["hooks"] if one["guard"]}
    assert {"hooks-command-guard", "hooks-rules"} <= guards
    assert [one["says"] for one in told["rules"]] == ["Ask Ann first"]
    unseen = {one["module"] for one in told["modules"] if not one["listed"]}
    assert unseen == {"mine (mine.py)", "hooks-otel"}
    assert world.digest() == before


async def test_without_an_event_all_are_listed(world: World) -> None:
    """In the order of a session."""
    everything = read(await world.call("list_hooks"))["hooks"]
    assert {"tool:pre", "tool:post", "prompt:submit"} <= {one["event"] for one in everything}


async def test_an_event_that_is_misspelt_is_refused(world: World) -> None:
    """Of that, nothing would be said, and one would take it for an answer."""
    reply = await world.call("list_hooks", {"event": "tool:pree"})
    assert reply.is_error
    assert reply.text == "There is no event 'tool:pree'; did you mean 'tool:pre'?"


async def test_a_module_that_cannot_be_used_is_told(world: World) -> None:
    """With what follows from it."""
    world.save_bundle(hooks=[{"module": "hooks-rules", "config": {}}])
    (failure,) = read(await world.call("list_hooks"))["failures"]
    assert "hooks-rules" in failure
    assert failure.endswith("no session starts without it")


DENY = {"name": "no-vault", "path": "vault/**", "action": "deny", "reason": "Ask Ann first"}
ASK = {
    "name": "ask-deploy",
    "tool": ["Bash"],
    "command": "deploy",
    "unless": {"regex": "--dry-run"},
    "action": "ask_user",
    "approval_prompt": "Deploy?",
    "dry_run": True,
}


def test_a_rule_is_told_with_its_conditions_and_its_words(world: World) -> None:
    """Those in files too; one that is switched off is not."""
    (world.project / "rules.yaml").write_text(f"- {DENY}\n")
    off = {**DENY, "name": "off", "enabled": False}
    config = {"rules": [ASK, off], "file": "rules.yaml"}
    world.save_bundle(hooks=[{"module": "hooks-rules", "config": config}])
    asks, denies = describe_rules(look_at(world.project))
    assert (asks.name, asks.action, asks.says, asks.only_tried) == (
        "ask-deploy",
        "ask_user",
        "Deploy?",
        True,
    )
    assert asks.applies_to == {"tool": ["Bash"], "command": "deploy"}
    assert asks.unless == {"regex": "--dry-run"}
    assert (denies.says, denies.events) == ("Ask Ann first", ["tool:pre"])
    assert denies.applies_to == {"path": "vault/**"}


def test_rules_that_cannot_be_read_are_left_to_their_module(world: World) -> None:
    """It says best what is wrong with them."""
    world.save_bundle(hooks=[{"module": "hooks-rules", "config": {"rules": [{"action": "deny"}]}}])
    assert describe_rules(look_at(world.project)) == []
