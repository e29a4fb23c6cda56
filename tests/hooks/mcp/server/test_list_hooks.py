"""Which hooks run at which event."""

from __future__ import annotations

from amplifier_hooks.mcp.server.list_hooks import describe_rules
from tests.hooks.mcp.server.world import World, read
from tests.support.trust import look_at

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
