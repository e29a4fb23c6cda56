"""Several rules on one event, and rules that fail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.models import HookResult
from amplifier_hooks.guards.rules.engine import (
    Engine,
    RuleSet,
    combine,
    load_rule,
    make_view_factory,
    merge_data,
)
from amplifier_hooks.guards.rules.rule import Rule
from tests.hooks.guards.rules.asking import DENY, answer
from tests.support.harness import Harness

ALL_FIELDS = """
- name: ask
  tool: Ask
  action: ask_user
  reason: because
  approval_prompt: "Run {tool_name} on {tool_input.target}?"
  approval_options: [Allow, Deny, Allow always]
  approval_timeout: 12.5
  approval_default: allow
  suppress_output: true
  user_message: "{rule} asks"
  user_message_level: warning
- name: inject
  tool: Inject
  action: inject_context
  context_injection: "Mind {event}"
  context_injection_role: user
  ephemeral: true
  append_to_last_tool_result: true
- name: change
  tool: Change
  action: modify
  reason: shorter
  data: {tool_input: {timeout: 30, note: "for {tool_name}"}}
- name: refuse
  tool: Refuse
  action: deny
  reason: "{tool_input.missing} and {tool_input} and {__class__} and {tool_name.__class__}"
- name: tell
  tool: Tell
  action: continue
  user_message: told
  user_message_level: error
"""


async def test_every_action_carries_all_its_fields(tmp_path: Path) -> None:
    """Any of the five actions with all their HookResult fields, templated."""
    asked = await answer(tmp_path, ALL_FIELDS, "Ask", {"target": "x"})
    assert asked.action == "ask_user"
    assert asked.approval_prompt == "Run Ask on x?"
    assert asked.approval_options == ["Allow", "Deny", "Allow always"]
    assert (asked.approval_timeout, asked.approval_default) == (12.5, "allow")
    assert (asked.reason, asked.suppress_output) == ("because", True)
    assert (asked.user_message, asked.user_message_level) == ("ask asks", "warning")
    injected = await answer(tmp_path, ALL_FIELDS, "Inject", {})
    assert injected.action == "inject_context"
    assert injected.context_injection == "Mind tool:pre"
    assert injected.context_injection_role == "user"
    assert injected.ephemeral
    assert injected.append_to_last_tool_result
    changed = await answer(tmp_path, ALL_FIELDS, "Change", {"timeout": 900, "keep": [1]})
    assert changed.data is not None
    assert changed.data["tool_input"] == {"timeout": 30, "keep": [1], "note": "for Change"}
    told = await answer(tmp_path, ALL_FIELDS, "Tell", {})
    assert told.action == "continue"


async def test_templates_look_up_keys_and_never_attributes(tmp_path: Path) -> None:
    """Templated with {tool_name} etc. safely."""
    refused = await answer(tmp_path, ALL_FIELDS, "Refuse", {"a": "{tool_name}"})
    assert refused.reason == (
        "{tool_input.missing} and {'a': '{tool_name}'} and {__class__} and {tool_name.__class__}"
    )
    long = await answer(tmp_path, ALL_FIELDS, "Ask", {"target": "x" * 5000})
    assert len(long.approval_prompt or "") < 1100


VALUES = st.recursive(
    st.integers() | st.text(max_size=3),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)

DICTS = st.dictionaries(st.sampled_from("abc"), VALUES, max_size=3)


@given(DICTS, DICTS)
def test_changes_are_laid_over_the_data(data: dict[str, Any], changes: dict[str, Any]) -> None:
    """Mappings are joined, everything else is replaced, and the original stays as it was."""
    before = repr(data)
    result = merge_data(data, changes)
    assert repr(data) == before
    assert merge_data(result, changes) == result
    assert set(result) == set(data) | set(changes)


async def test_an_exception_takes_a_rule_back(tmp_path: Path) -> None:
    """`unless` is the exception; one that cannot be told to hold is none."""
    rule: dict[str, Any] = {
        "tool": "Bash",
        "regex": "deploy",
        "unless": {"command": "deploy staging"},
        **DENY,
    }
    assert (
        await answer(tmp_path, [rule], "Bash", {"command": "deploy staging"})
    ).action == "continue"
    assert (await answer(tmp_path, [rule], "Bash", {"command": "deploy prod"})).action == "deny"
    assert (await answer(tmp_path, [rule], "Bash", {"command": "deploy $x"})).action == "deny"


async def test_letter_case_is_no_way_around_a_rule_that_stops(tmp_path: Path) -> None:
    """A rule about `Bash` that stops calls also stops those of `bash`; others are exact."""
    stops = {"tool": "Bash", "regex": "deploy", **DENY}
    changes = {"tool": "Bash", "action": "inject_context", "context_injection": "hm"}
    for name in ("Bash", "bash", "BASH"):
        assert (await answer(tmp_path, [stops], name, {"command": "deploy x"})).action == "deny"
    assert (await answer(tmp_path, [changes], "bash", {"command": "x"})).action == "continue"


TOOLS = st.sampled_from(["A", "B", "A*", "*", "mcp__*", "[AB]"])

NAMES = st.sampled_from(["A", "B", "AB", "mcp__x", "", "Z"])


@given(st.lists(TOOLS, max_size=8), st.lists(NAMES, max_size=12))
def test_the_index_finds_what_a_plain_search_finds(globs: list[str], names: list[str]) -> None:
    """Remembering which rules listen changes nothing but the time."""
    rules = [
        load_rule(Rule(name=str(number), tool=glob, action="continue"), Path("/"), "test")
        for number, glob in enumerate(globs)
    ]
    index = RuleSet(rules)
    for name in names:
        expected = tuple(rule for rule in rules if rule.listens_to("tool:pre", name))
        assert index.find_rules("tool:pre", name) == expected


def test_many_tool_names_do_not_fill_the_memory() -> None:
    """What the index remembers is bounded."""
    index = RuleSet([])
    for number in range(5_000):
        index.find_rules("tool:pre", str(number))
    assert len(index._remembered) <= 1_024


def test_a_thousand_rules_are_not_looked_at_for_other_tools() -> None:
    """Index by event and tool: a rule is asked once per tool whether it listens, then never again.

    What that costs in microseconds, `benchmarks/bench_rules.py` measures.
    """
    asked: list[str] = []

    class Counted:
        def __init__(self, name: str) -> None:
            self.name = name

        def listens_to(self, event: str, tool: str) -> bool:
            asked.append(self.name)
            return tool == "Bash"

    rules = RuleSet(Counted(str(n)) for n in range(1_000))  # type: ignore[misc]
    assert rules.find_rules("tool:pre", "Read") == ()
    assert len(asked) == 1_000
    assert [rules.find_rules("tool:pre", "Read") for _ in range(100)] == [()] * 100
    assert len(asked) == 1_000
    assert len(rules.find_rules("tool:pre", "Bash")) == 1_000


@pytest.mark.parametrize("policy", ["deny", "ask_user", "continue"])
@pytest.mark.parametrize("action", ["deny", "inject"])
async def test_a_rule_that_fails_at_run_time_closes_the_door(
    tmp_path: Path, policy: str, action: str
) -> None:
    """Fail closed (a rule that errors at run time denies or asks, configurable)."""
    rule: dict[str, Any] = {"name": "broken", "when": "tool_input.missing == 1"}
    rule |= DENY if action == "deny" else {"action": "inject_context", "context_injection": "x"}
    result = await answer(tmp_path, [rule], "Bash", {}, on_error=policy)
    assert result.action == policy
    own = await answer(tmp_path, [{**rule, "on_error": policy}], "Bash", {})
    assert own.action == policy
    if policy != "continue":
        assert "'broken' could not be evaluated" in (result.reason or "")
    default = await answer(tmp_path, [rule], "Bash", {})
    assert default.action == "deny"


async def test_several_rules_lose_nothing_of_each_other(tmp_path: Path) -> None:
    """All questions are asked, all injections made, all changes chained, the strongest wins."""
    ask = {"action": "ask_user", "approval_prompt": "first?", "approval_default": "allow"}
    asks: list[dict[str, Any]] = [
        ask,
        {"action": "ask_user", "approval_prompt": "second?", "approval_timeout": 5},
    ]
    asked = await answer(tmp_path, asks, "Bash", {})
    assert "1. first?" in (asked.approval_prompt or "")
    assert "2. second?" in (asked.approval_prompt or "")
    assert (asked.approval_timeout, asked.approval_default) == (5, "deny")
    inject = [{"action": "inject_context", "context_injection": text} for text in "ab"]
    injected = await answer(tmp_path, inject, "Bash", {})
    texts = [one.content for one in injected.context_injections or []]
    assert texts == ["a", "b"] or injected.context_injection == "a\n\nb"
    changes = [{"action": "modify", "data": {"tool_input": {key: 1}}} for key in "ab"]
    changed = await answer(tmp_path, changes, "Bash", {"c": 1})
    assert changed.data is not None
    assert changed.data["tool_input"] == {"a": 1, "b": 1, "c": 1}
    assert (await answer(tmp_path, [*asks, DENY, *changes], "Bash", {})).action == "deny"


async def test_the_other_rules_judge_what_the_changing_ones_left(tmp_path: Path) -> None:
    """What is judged is what runs."""
    rules = [
        {"regex": {"tool_input.path": "evil"}, **DENY},
        {"action": "modify", "data": {"tool_input": {"path": "evil"}}},
    ]
    assert (await answer(tmp_path, rules, "Read", {"path": "good"})).action == "deny"


async def test_a_dry_run_only_reports(tmp_path: Path) -> None:
    """dry-run mode that only reports what it would have done."""
    harness = Harness(tmp_path)
    rules = [{"name": "no-bash", "tool": "Bash", **DENY, "reason": "never"}]
    await harness.mount("rules", {"rules": rules, "dry_run": True})
    call = {"tool_name": "Bash", "tool_input": {"command": "x"}}
    result = await harness.coordinator.execute_with_hooks("tool:pre", call)
    assert result.action == "continue"
    shown = [message for message, _, _ in harness.coordinator.screen.messages]
    assert shown == ["Dry run: the rule 'no-bash' would have answered deny: never"]
    single = await answer(tmp_path, [{**rules[0], "dry_run": True}], "Bash", {})
    assert single.action == "continue"


async def test_several_questions_are_one_with_the_most_careful_settings(tmp_path: Path) -> None:
    """All prompts, all reasons, the shortest time, and the options that all offer."""
    ask: dict[str, Any] = {"action": "ask_user", "approval_default": "allow"}
    first = {**ask, "approval_prompt": "a?", "approval_options": ["Yes", "No"], "reason": "A"}
    second = {**ask, "approval_prompt": "b?", "approval_options": ["Yes", "No"], "reason": "B"}
    same = await answer(tmp_path, [first, second], "Bash", {})
    assert same.approval_prompt == "Several rules ask:\n1. a?\n2. b?"
    assert (same.approval_options, same.approval_default) == (["Yes", "No"], "allow")
    assert same.reason == "A; B"
    other = {**second, "approval_options": ["Allow"], "approval_default": "deny"}
    differ = await answer(tmp_path, [first, other], "Bash", {})
    assert (differ.approval_options, differ.approval_default) == (["Allow", "Deny"], "deny")
    alone = await answer(tmp_path, [first], "Bash", {})
    assert (alone.approval_prompt, alone.reason) == ("a?", "A")


@pytest.mark.parametrize(
    "last",
    [
        HookResult(action="ask_user", approval_prompt="go?"),
        HookResult(action="inject_context", context_injection="x"),
        HookResult(action="modify", data={"a": 1}),
        HookResult(),
    ],
    ids=lambda result: result.action,
)
def test_every_message_of_the_rules_that_apply_is_shown(last: HookResult) -> None:
    """Whatever wins, with the most serious of the levels; one alone stays as it is."""
    one = HookResult(user_message="one", user_message_level="warning")
    two = HookResult(user_message="two")
    spoken = last.model_copy(update={"user_message": "three"})
    every = combine([one, two, spoken])
    assert every.action == last.action
    assert (every.user_message, every.user_message_level) == ("one\ntwo\nthree", "warning")
    quiet = combine([one, last])
    assert (quiet.user_message, quiet.user_message_level) == ("one", "warning")
    if last.action != "continue":
        assert combine([HookResult(), spoken]) is spoken
        assert combine([last, HookResult()]) is last
    assert combine([last]) is last


def test_several_injections_and_changes_are_one() -> None:
    """All texts with their own settings; of changes the last, which has seen the others."""
    first = HookResult(action="inject_context", context_injection="a", ephemeral=True)
    second = HookResult(
        action="inject_context", context_injection="b", context_injection_role="user"
    )
    both = combine([first, HookResult(), second])
    told = [(one.content, one.role, one.ephemeral) for one in both.context_injections or []]
    assert (both.action, told) == ("inject_context", [("a", "system", True), ("b", "user", False)])
    changes = [HookResult(action="modify", data={"n": number}) for number in range(3)]
    assert combine(changes) is changes[-1]
    assert combine([]).action == "continue"


async def test_a_denial_shows_what_the_rules_before_it_had_to_say(tmp_path: Path) -> None:
    """A rule on trial reports, and the next one denies."""
    trial = {"name": "trial", **DENY, "dry_run": True}
    result = await answer(tmp_path, [trial, {"name": "real", **DENY}], "Bash", {})
    assert result.action == "deny"
    assert "'trial' would have answered deny" in (result.user_message or "")


async def test_a_rule_that_does_not_apply_leaves_the_others_to_judge(tmp_path: Path) -> None:
    """Whichever stands first."""
    rules = [{"regex": {"tool_input.path": word}, **DENY} for word in ("evil", "bad", "wrong")]
    for word in ("evil", "bad", "wrong"):
        assert (await answer(tmp_path, rules, "Read", {"path": word})).action == "deny"
    assert (await answer(tmp_path, rules, "Read", {"path": "good"})).action == "continue"


@pytest.mark.parametrize(
    ("match", "waits"),
    [
        ({"path": "*.env"}, True),
        ({"unless": {"path": "*.md"}}, True),
        ({"regex": {"tool_input.path": "env"}}, False),
        ({"unless": {"regex": {"tool_input.path": "md"}}}, False),
    ],
)
async def test_only_a_rule_about_files_leaves_the_loop(
    tmp_path: Path, match: dict[str, Any], waits: bool
) -> None:
    """A slow disk must not stop the session, and a task for every other event would cost."""
    rule = Rule.model_validate({"name": "env", **match, **DENY})
    engine = Engine(
        RuleSet([load_rule(rule, tmp_path, "test")]),
        make_view_factory(tmp_path, ("path",), ("command",)),
        on_error="deny",
        unclear="deny",
        dry_run=False,
    )
    call = {"tool_name": "Write", "tool_input": {"path": "x.env"}}
    reply = engine.on_event("tool:pre", call)
    assert isinstance(reply, HookResult) is not waits
    assert (reply if isinstance(reply, HookResult) else await reply).action == "deny"


@pytest.mark.parametrize("action", ["continue", "ask_user"])
def test_what_rules_cannot_share_is_as_the_first_of_them_says(action: Any) -> None:
    """The order in which rules are written decides."""
    results = [
        HookResult(action=action, approval_prompt="?", suppress_output=first, user_message="x")
        for first in (True, False)
    ]
    assert combine(results).suppress_output
    assert not combine(results[::-1]).suppress_output
