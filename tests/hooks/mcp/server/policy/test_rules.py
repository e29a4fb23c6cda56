"""The rules of hooks-rules, as their author put them."""

from __future__ import annotations

from amplifier_hooks.mcp.server.policy.rules import describe_rules
from tests.hooks.mcp.server.world import World
from tests.support.trust import look_at

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
