"""What a change is, in a word: weaker, different, new or stricter."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_hooks.agent.bundles import load_bundle
from amplifier_hooks.agent.trust.comparison import (
    _CONFIGS,
    Change,
    compare_outlines,
    read_guard_options,
)
from amplifier_hooks.agent.trust.outline import GUARDS, outline_plan
from amplifier_hooks.guards.bash import RULES

SESSION = {"orchestrator": "loop-basic", "context": "context-simple"}
Plan = dict[str, Any]


def compare(before: Plan, after: Plan, *changed: str) -> list[Change]:
    old, new = (outline_plan({"session": SESSION, **one}) for one in (before, after))
    return compare_outlines(old, new, changed)


def tell(before: Plan, after: Plan, *changed: str) -> list[str]:
    return [f"{one.word}: {one.sentence}" for one in compare(before, after, *changed)]


def hook(module: str = "g", **more: Any) -> Plan:
    return {"hooks": [{"module": module, **more}]}


def guard(name: str, **config: Any) -> Plan:
    return hook(f"hooks-{name}", config=config)


def rules(*listed: Plan, **config: Any) -> Plan:
    return guard("rules", rules=list(listed), **config)


FIRST, SECOND = sorted(RULES)[:2]
DENY = {"name": "no-push", "action": "deny", "reason": "No.", "tool": "Bash", "command": "git push"}
ASK = {"name": "docs", "action": "ask_user", "approval_prompt": "Sure?", "path": "docs/**"}
CHANGE = {"name": "trim", "action": "modify", "data": {"a": 1}}
DOCS_AND_MORE = {**ASK, "path": ["docs/**", "src/**"]}
PATTERNS = ["production/**", "*.env", ".env.*"]
SERVERS = {"via": "server", "server": "http://127.0.0.1:1", "token": "t0ken-t0ken"}

ENTRIES = [
    (hook(), {"hooks": []}, "weaker: g would be gone"),
    (hook("hooks-model-judge"), {"hooks": []}, "stricter: hooks-model-judge would be gone"),
    (
        {"hooks": []},
        hook("hooks-model-judge"),
        "weaker: hooks-model-judge would let a model answer questions in a person's place",
    ),
    (hook(name="n"), hook(name="n", locked=True), "stricter: n would now be locked"),
    (hook(required=True), hook(required=False), "weaker: g would no longer be required"),
    (hook(locked=True), hook(), "weaker: g would no longer be locked"),
    (hook(), hook(source="/x.py"), "different: g would come from /x.py"),
    (hook(config={"a": 1}), hook(config={"b": 1}), "different: g would have other options: a, b"),
    (
        hook(priority=1),
        hook(priority=9),
        "different: g would run in another position: priority 9, not 1",
    ),
    (
        hook(),
        hook(mode="shadow"),
        "weaker: g would have no effect any more: mode would be shadow",
    ),
    (
        hook(mode="shadow"),
        hook(),
        "stricter: g would have an effect: mode would no longer be shadow",
    ),
    ({}, hook(), "new: hook g"),
    (hook("hooks-notify"), {}, "different: hooks-notify would be gone"),
    (hook("hooks-notify", required=True), {}, "weaker: hooks-notify would be gone"),
    ({"tools": ["t"]}, {"tools": []}, None),
    ({"tools": [{"module": "t", "locked": True}]}, {"tools": []}, "weaker: t would be gone"),
    ({"tools": []}, {"tools": ["t"]}, "new: tool t"),
    (
        {"tools": [{"module": "t", "config": {}}]},
        {"tools": [{"module": "t", "config": {"roots": ["/"]}}]},
        "different: t would have other options: roots",
    ),
    ({"providers": ["p"]}, {"providers": ["q"]}, None),
    (
        {"agents": {"a": hook()}},
        {"agents": {"a": {"hooks": []}}},
        "weaker: agent a: g would be gone",
    ),
    ({"agents": {"a": hook()}}, {"agents": {}}, None),
    ({"agents": {}}, {"agents": {"a": {}}}, "new: agent a"),
    (
        {"agents": {"a": {"tools": ["Read"]}}},
        {"agents": {"a": {"tools": ["Read", "Bash"]}}},
        "different: agent a would be different",
    ),
]
GUARDED = [
    (
        guard("production-guard", mcp_paths=["path", "own"]),
        guard("production-guard", path_keys=["path"]),
        "weaker: hooks-production-guard.path_keys would no longer have 1 entry",
    ),
    (
        guard("command-guard", mcp_commands=["command"]),
        guard("command-guard", command_keys=["command"]),
    ),
    (
        guard("production-guard"),
        guard("production-guard", patterns=["secrets/**"]),
        "weaker: hooks-production-guard.patterns would no longer have "
        "'production/**', '*.env', '.env.*'",
        "stricter: hooks-production-guard.patterns would also have 1 entry",
    ),
    (
        guard("production-guard"),
        guard("production-guard", patterns=[*PATTERNS, "secrets/**"]),
        "stricter: hooks-production-guard.patterns would also have 1 entry",
    ),
    (
        guard("production-guard", action="deny"),
        guard("production-guard"),
        "weaker: hooks-production-guard.action would be ask_user, not deny",
    ),
    (
        guard("production-guard"),
        guard("production-guard", shell={}),
        "weaker: hooks-production-guard.shell would no longer have 'Bash'",
    ),
    (
        guard("command-guard"),
        guard("command-guard", off=sorted(RULES)[:2]),
        f"weaker: hooks-command-guard.off would also have {FIRST!r}, {SECOND!r}",
    ),
    (
        guard("command-guard", off=sorted(RULES)[:1]),
        guard("command-guard"),
        f"stricter: hooks-command-guard.off would no longer have {FIRST!r}",
    ),
    (
        guard("command-guard"),
        guard("command-guard", deny=["make deploy"]),
        "stricter: hooks-command-guard.deny would also have 1 entry",
    ),
    (
        guard("command-guard"),
        guard("command-guard", allow=["make"]),
        "weaker: hooks-command-guard.allow would also have 1 entry",
    ),
    (
        guard("command-guard"),
        guard("command-guard", unlisted="deny"),
        "stricter: hooks-command-guard.unlisted would be deny, not continue",
    ),
    (
        guard("command-guard", approval_timeout=300),
        guard("command-guard", approval_timeout=60),
        "stricter: hooks-command-guard.approval_timeout would be 60, not 300",
    ),
    (
        guard("command-guard", approval_timeout=300, approval_default="allow"),
        guard("command-guard", approval_timeout=60, approval_default="allow"),
        "weaker: hooks-command-guard.approval_timeout would be 60, not 300",
    ),
    (
        guard("command-guard"),
        guard("command-guard", approval_default="allow"),
        "weaker: hooks-command-guard.approval_default would be allow, not deny",
    ),
    (
        guard("redaction"),
        guard("redaction", on_write="tell-and-redact"),
        "different: hooks-redaction.on_write would be tell-and-redact, not ask",
    ),
    (
        guard("redaction"),
        guard("redaction", on_write="off"),
        "weaker: hooks-redaction.on_write would be off, not ask",
    ),
    (
        guard("cost-control", turn={"tokens": 100}),
        guard("cost-control", turn={"tokens": 900}, day={"money": 1}),
        "weaker: hooks-cost-control.turn.tokens would be 900, not 100",
        "stricter: hooks-cost-control.day would be there",
    ),
    (
        guard("rate-limit", overall={"calls": 60}),
        guard("rate-limit", overall={"calls": 60, "burst": 100}),
        "weaker: hooks-rate-limit.overall would be 100, not 60",
    ),
    (
        guard("rate-limit", tools={"Bash": {"calls": 60}}),
        guard("rate-limit", tools={"Bash": {"calls": 60}, "Web*": {"calls": 1}}),
        "stricter: hooks-rate-limit.tools would also have 'Web*'",
    ),
    (
        guard("injection-guard"),
        guard("injection-guard", tools=["Web*"]),
        "weaker: hooks-injection-guard.tools would no longer have '*'",
        "stricter: hooks-injection-guard.tools would also have 1 entry",
    ),
    (
        guard("command-guard", tools={"Bash": "command"}),
        guard("command-guard", tools={"*": "other", "Bash": "command"}),
        "different: hooks-command-guard.tools would also have '*'",
    ),
]
RULE_CHANGES = [
    (rules(DENY), rules(DENY, ASK), "stricter: hooks-rules: the rule 'docs' would be new"),
    (rules(DENY, ASK), rules(ASK), "weaker: hooks-rules: the rule 'no-push' would be gone"),
    (
        rules(DENY),
        rules({**DENY, "enabled": False}),
        "weaker: hooks-rules: the rule 'no-push' would be gone",
    ),
    (
        rules(DENY),
        rules({**DENY, "dry_run": True}),
        "weaker: hooks-rules: the rule 'no-push' would be gone",
    ),
    (rules(DENY), rules({**DENY, "reason": "Not here.", "description": "x"}), None),
    (rules(DENY), rules({**DENY, "name": "renamed"}), None),
    (rules(DENY, ASK), rules(ASK, DENY), None),
    (
        rules(DENY),
        rules({**DENY, "action": "ask_user", "approval_prompt": "?"}),
        "weaker: hooks-rules: the rule 'no-push' would be ask_user, not deny",
    ),
    (
        rules(ASK),
        rules({"name": "docs", "action": "deny", "reason": "x", "path": "docs/**"}),
        "stricter: hooks-rules: the rule 'docs' would be deny, not ask_user",
    ),
    (
        rules(ASK),
        rules(DOCS_AND_MORE),
        "stricter: hooks-rules: the rule 'docs' would apply to more",
    ),
    (rules(DOCS_AND_MORE), rules(ASK), "weaker: hooks-rules: the rule 'docs' would apply to less"),
    (
        rules(ASK),
        rules({**ASK, "unless": {"path": "docs/x"}}),
        "weaker: hooks-rules: the rule 'docs' would apply to less",
    ),
    (
        rules(ASK),
        rules({**ASK, "regex": "x"}),
        "different: hooks-rules: the rule 'docs' would be different",
    ),
    (
        rules(ASK),
        rules({**ASK, "approval_default": "allow"}),
        "weaker: hooks-rules: the rule 'docs' would be allow, not deny",
    ),
    (rules(DENY), rules(DENY, CHANGE), "different: hooks-rules: the rule 'trim' would be new"),
    (
        rules(CHANGE, {**CHANGE, "data": {}}),
        rules({**CHANGE, "data": {}}, CHANGE),
        "different: hooks-rules: would be in another order",
    ),
    (
        rules(DENY),
        rules(DENY, dry_run=True),
        "weaker: hooks-rules.dry_run would be true, not false",
    ),
]
SECTIONS = [
    ("approval", {"mode": "deny"}, {"mode": "ask"}, "weaker: approval.mode would be ask, not deny"),
    ("approval", {}, {"mode": "deny"}, "stricter: approval.mode would be deny, not ask"),
    ("approval", {}, {"mode": "ask"}, None),
    ("approval", {"locked": True}, {}, "weaker: approval.locked would be false, not true"),
    ("approval", {"timeout": 9}, {"timeout": 2}, "stricter: approval.timeout would be 2, not 9"),
    ("approval", {"timeout": 2}, {"timeout": 9}, "different: approval.timeout would be 9, not 2"),
    ("approval", {"persons": 2}, {}, "weaker: approval.persons would be 1, not 2"),
    ("audit", {}, {"witness": "https://w"}, "stricter: audit.witness would be there"),
    ("audit", {"witness": "https://w"}, {}, "weaker: audit.witness would be gone"),
    ("audit", {"sign": True}, {"sign": False}, "weaker: audit.sign would be false, not true"),
    ("audit", {}, {"sign": True}, "stricter: audit.sign would be true, not false"),
    ("audit", {"sign": "/a"}, {"sign": "/b"}, "different: audit.key would be different"),
    ("audit", {"level": "full"}, {}, "weaker: audit.level would be normal, not full"),
    ("audit", {"path": "/1"}, {}, "different: audit.path would be different"),
    ("audit", {"anchors": ["/1"]}, {}, "weaker: audit.anchors would no longer have 1 entry"),
    ("audit", {"enabled": True}, {}, "weaker: audit.enabled would be false, not true"),
    ("sandbox", {"mode": "auto"}, {"mode": "off"}, "weaker: sandbox.mode would be off, not auto"),
    ("sandbox", {}, {"write": ["/b"]}, "weaker: sandbox.write would also have '/b'"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "told"), [(b, a, t) for b, a, *t in ENTRIES])
def test_what_a_change_of_an_entry_is(before: Plan, after: Plan, told: list[str | None]) -> None:
    """Hooks of any kind, in agents too."""
    assert tell(before, after) == [one for one in told if one]
    assert tell(before, before) == []


@pytest.mark.parametrize(
    ("before", "after", "told"), [(b, a, t) for b, a, *t in (*GUARDED, *RULE_CHANGES)]
)
def test_what_a_change_of_a_guard_is(before: Plan, after: Plan, told: list[str | None]) -> None:
    """By what its options mean, and with its defaults where an option is not given."""
    assert tell(before, after) == [one for one in told if one]
    assert tell(after, after) == []


@pytest.mark.parametrize(("section", "before", "after", "told"), SECTIONS)
def test_what_a_change_of_a_section_is(
    section: str, before: Plan, after: Plan, told: str | None
) -> None:
    """Of what is not known, nobody says more than that it is different."""
    if "persons" in before:
        before, after = ({**SERVERS, **one} for one in (before, after))
    assert tell({section: before}, {section: after}) == ([told] if told else [])


def test_less_time_is_no_gain_where_a_hook_may_allow_when_nobody_answers() -> None:
    """A hook in Python may do so, and options of ours."""
    times = ({"approval": {"timeout": one}} for one in (9, 2))
    before, after = ({**one, **hook(source="/x.py")} for one in times)
    assert tell(before, after) == ["different: approval.timeout would be 2, not 9"]


def test_other_code_behind_the_same_entry_is_different() -> None:
    """Nobody can say what it does."""
    told = ["different: g would run other code or other rules"]
    assert tell(hook(), hook(), "g") == told


def test_limits_are_weaker_when_they_are_wider() -> None:
    """Or when there are none."""
    old = {"agent_depth": 1, "agent_count": 2, "tool_calls_at_once": 3}
    new = {"agent_depth": 2, "agent_count": 1, "tool_calls_at_once": None}
    before, after = ({"session": {**SESSION, "limits": one}} for one in (old, new))
    assert tell(before, after) == [
        "weaker: session.limits.agent_depth would be 2, not 1",
        "weaker: session.limits.tool_calls_at_once would be without limit, not 3",
        "stricter: session.limits.agent_count would be 1, not 2",
    ]
    assert tell({}, {"session": {**SESSION, "limits": {"agent_depth": 3}}}) == [
        "weaker: session.limits.agent_depth would be 3, not 2"
    ]
    wide = {"session": {**SESSION, "injection_size_limit": None}}
    assert tell({}, wide) == [
        "weaker: session.injection_size_limit would be without limit, not 10240"
    ]


def test_shadow_mode_of_a_session_is_weaker() -> None:
    """No hook holds anybody back in it; to leave it is stricter."""
    shadow = {"session": {**SESSION, "evaluate_only": True}}
    lost = "no hook would have an effect any more: session.evaluate_only would be true"
    assert tell({}, shadow) == [f"weaker: {lost}"]
    assert tell(shadow, {}) == ["stricter: hooks would have an effect: no session.evaluate_only"]


def test_an_outline_of_the_first_form_has_no_parts_to_compare() -> None:
    """What was trusted before there were any is still compared, as far as it goes."""
    old = outline_plan({"session": SESSION, **guard("command-guard", deny=["a"])})
    del old["form"], old["hooks"][0]["options"]
    old["approval"] = {"timeout": "8b34042b8b34042b"}
    new = outline_plan({"session": SESSION, **guard("command-guard"), "approval": {"timeout": 60}})
    assert [f"{one.word}: {one.sentence}" for one in compare_outlines(old, new)] == [
        "different: hooks-command-guard would have other options: deny",
        "different: approval.timeout would be different",
    ]


def test_limits_that_are_not_given_are_those_that_hold() -> None:
    """So that a bundle that leaves them out is compared with what it gets."""
    from amplifier_core.mount_plan import read_calls_at_once
    from amplifier_hooks.agent.session.sub_agents import DEFAULT_COUNT, DEFAULT_DEPTH
    from amplifier_hooks.agent.trust.comparison import _LIMITS

    calls = read_calls_at_once({"session": SESSION})
    assert {
        "agent_depth": DEFAULT_DEPTH,
        "agent_count": DEFAULT_COUNT,
        "tool_calls_at_once": calls,
    } == _LIMITS


def test_every_option_that_has_a_meaning_is_one_of_its_guard() -> None:
    """And every guard that has options of ours is known."""
    assert _CONFIGS.keys() == GUARDS.keys()
    for module, options in GUARDS.items():
        assert options.keys() <= read_guard_options(module).defaults.keys()


def test_the_default_bundle_is_not_weaker_than_itself() -> None:
    """Compared with its own defaults written out."""
    plan = load_bundle(user=False, project=False).mount_plan
    written = {**plan, "hooks": [_write_out(one) for one in plan["hooks"]]}
    assert compare_outlines(outline_plan(plan), outline_plan(written)) == []


def _write_out(entry: Plan) -> Plan:
    if entry["module"] != "hooks-production-guard":
        return entry
    return {**entry, "config": {"patterns": PATTERNS, "action": "ask_user"}}
