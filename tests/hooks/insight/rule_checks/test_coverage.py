"""Whether the checks agree with the engine, on rules and events that nobody has thought of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from amplifier_hooks.insight.rule_checks import Finding, check_rules
from amplifier_hooks.insight.rule_checks.coverage import covers_events
from amplifier_hooks.insight.rule_checks.samples import (
    Sample,
    matches_answering_rule,
    matches_hook_rule,
)
from tests.hooks.insight.rule_checks.rule_files import (
    ASK,
    DENY,
    read_answering_rules,
    read_hook_rules,
)
from tests.support.harness import Harness

COMMANDS = st.sampled_from(
    ["git", "git push", "git push --force|-f", "git push origin", "g*", "rm -rf", "make", "ls"]
)
PATHS = st.sampled_from(
    ["**", "src/**", "src/*.py", "*.py", "../x", "src/a.py", "docs/", "/etc/**", "src/{a,b}.py"]
)
EXPRESSIONS = st.sampled_from(["push", "git push", "a.py", "x|y", {"tool_input.command": "push"}])
TOOLS = st.sampled_from(["Bash", "bash", "Write", "*", "W*", "mcp__*", ["Bash", "Write"]])
EVENTS = st.sampled_from(["tool:pre", "tool:post", "tool:*", "*", "prompt:submit"])
CONDITIONS: dict[str, st.SearchStrategy[Any]] = {
    "tool": TOOLS,
    "command": st.one_of(COMMANDS, st.lists(COMMANDS, min_size=1, max_size=2)),
    "path": st.one_of(PATHS, st.lists(PATHS, min_size=1, max_size=2)),
    "regex": EXPRESSIONS,
    "when": st.sampled_from(["tool_name == 'Bash'", "event == 'tool:pre'"]),
}
MATCHES = st.fixed_dictionaries({}, optional=CONDITIONS)
ANSWERS = st.sampled_from(
    [
        DENY,
        ASK,
        {"action": "inject_context", "context_injection": "hm"},
        {"action": "continue", "user_message": "seen"},
        {"action": "modify", "data": {"tool_input": {"command": "ls"}}},
    ]
)
RULES = st.builds(
    lambda match, more, answer: {**match, **more, **answer},
    MATCHES,
    st.fixed_dictionaries(
        {}, optional={"event": EVENTS, "unless": MATCHES, "dry_run": st.booleans()}
    ),
    ANSWERS,
)
CALLS = st.one_of(
    st.tuples(
        st.sampled_from(["Bash", "bash"]),
        st.sampled_from(
            [
                "git push",
                "git push --force origin x",
                "git status; ls",
                "rm -rf src",
                "make a.py",
                "sudo git push",
                "git $x",
                "$(git push)",
            ]
        ).map(lambda text: {"command": text}),
    ),
    st.tuples(
        st.sampled_from(["Write", "write"]),
        st.sampled_from(["src/a.py", "src/b/c.py", "docs/x", "/etc/x", "a.py", "y"]).map(
            lambda text: {"file_path": text, "content": "push"}
        ),
    ),
    st.tuples(st.just("mcp__git__push"), st.just({"command": "git push", "path": "src/a.py"})),
)
SAMPLES = st.one_of(
    st.builds(
        lambda event, call, hook: Sample(
            event, {"tool_name": call[0], "tool_input": call[1]}, hook
        ),
        st.sampled_from(["tool:pre", "tool:post"]),
        CALLS,
        st.sampled_from(["hooks-a", "hooks-b"]),
    ),
    st.just(Sample("prompt:submit", {"prompt": "git push"})),
)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the rules are about."""
    return tmp_path_factory.mktemp("rules")


def find_about_one(findings: tuple[Finding, ...], kind: str) -> list[str]:
    """The rules of the findings of that kind."""
    return [one.rules[0] for one in findings if one.kind == kind]


RULE_LISTS = st.lists(RULES, min_size=1, max_size=5)
SAMPLE_LISTS = st.lists(SAMPLES, min_size=1, max_size=6)


@given(rules=RULE_LISTS, samples=SAMPLE_LISTS)
@settings(max_examples=15)
def test_what_is_said_about_rules_is_true(
    base: Path, rules: list[dict[str, Any]], samples: list[Sample]
) -> None:
    """A rule that never matches never does; what shadows another matches all that it matches."""
    compare_hook_rules(base, rules, samples)


@pytest.mark.slow
@given(rules=RULE_LISTS, samples=SAMPLE_LISTS)
@settings(max_examples=3_000)
def test_what_is_said_about_many_rules_is_true(
    base: Path, rules: list[dict[str, Any]], samples: list[Sample]
) -> None:
    """The same, for a hundred times as many."""
    compare_hook_rules(base, rules, samples)


def compare_hook_rules(base: Path, rules: list[dict[str, Any]], samples: list[Sample]) -> None:
    """Run the rules on the samples, and compare with what the check says."""
    group = read_hook_rules(base, *rules)
    named = {one.name: one for one in group.rules}
    findings = check_rules([group]).findings
    for sample in samples:
        matching = {name for name, one in named.items() if matches_hook_rule(one, group, sample)}
        assert not matching & set(find_about_one(findings, "never matches"))
        for one in findings:
            if one.kind == "shadowed" and one.rules[0] in matching:
                assert one.rules[1] in matching
                assert named[one.rules[1]].rule.action == "deny"


@example(
    rules=[{"command": "git push --force", **ASK}, {"tool": "bash", **DENY}],
    sample=Sample("tool:pre", {"tool_name": "Bash", "tool_input": {"command": "git push --force"}}),
)
@given(rules=st.lists(RULES, min_size=2, max_size=4), sample=SAMPLES)
@settings(max_examples=20)
async def test_without_a_shadowed_rule_the_engine_answers_the_same(
    base: Path, rules: list[dict[str, Any]], sample: Sample
) -> None:
    """The module is mounted as in a session, with the rule and without it."""
    group = read_hook_rules(base, *rules)
    findings = check_rules([group]).findings
    idle = find_idle(findings)
    idle &= {one.name for one in group.rules if matches_hook_rule(one, group, sample)}
    if not idle:
        return
    every = [{"name": f"r{at}", **rule} for at, rule in enumerate(rules)]
    rest = [rule for rule in every if rule["name"] not in idle]
    answers = [await answer(base, given_rules, sample) for given_rules in (every, rest)]
    assert answers[0] == answers[1] == "deny"


def find_idle(findings: tuple[Finding, ...]) -> set[str]:
    """The rules that are said to have no effect because another one denies."""
    shadowed = {one.rules[0] for one in findings if one.kind == "shadowed"}
    return shadowed | {one.rules[1] for one in findings if "denies exactly" in one.sentence}


async def answer(base: Path, rules: list[dict[str, Any]], sample: Sample) -> str:
    """What hooks-rules answers."""
    harness = Harness(base)
    await harness.mount("rules", {"rules": rules})
    return (await harness.emit(sample.event, **sample.data)).action


ANSWERING = st.builds(
    lambda match, more, decision: {**match, **more, "decision": decision},
    st.fixed_dictionaries(
        {"tool": TOOLS},
        optional={
            "command": COMMANDS,
            "path": PATHS,
            "regex": st.sampled_from(["push", "p.*"]).map(lambda one: {"tool_input.content": one}),
        },
    ),
    st.fixed_dictionaries(
        {},
        optional={
            "hook": st.sampled_from(["hooks-a", "hooks-*"]),
            "unless": st.fixed_dictionaries({}, optional={"path": PATHS, "command": COMMANDS}),
        },
    ),
    st.sampled_from(["allow", "deny", "ask"]),
)


ANSWERING_LISTS = st.lists(ANSWERING, min_size=2, max_size=5)


@given(rules=ANSWERING_LISTS, samples=SAMPLE_LISTS)
@settings(max_examples=15)
def test_what_is_said_about_approval_rules_is_true(
    base: Path, rules: list[dict[str, Any]], samples: list[Sample]
) -> None:
    """Whatever a shadowed rule would decide, an earlier one has decided."""
    compare_answering_rules(base, rules, samples)


@pytest.mark.slow
@given(rules=ANSWERING_LISTS, samples=SAMPLE_LISTS)
@settings(max_examples=3_000)
def test_what_is_said_about_many_approval_rules_is_true(
    base: Path, rules: list[dict[str, Any]], samples: list[Sample]
) -> None:
    """The same, for a hundred times as many."""
    compare_answering_rules(base, rules, samples)


def compare_answering_rules(base: Path, rules: list[dict[str, Any]], samples: list[Sample]) -> None:
    """Run the rules on questions about the samples, and compare with what the check says."""
    file = read_answering_rules(base, *rules)
    named = {one.name: one for one in file.rules}
    findings = check_rules([file]).findings
    for sample in samples:
        matching = {n for n, one in named.items() if matches_answering_rule(one, file, sample)}
        assert not matching & set(find_about_one(findings, "never matches"))
        for one in findings:
            if one.kind == "shadowed" and one.rules[0] in matching:
                assert one.rules[1] in matching


def test_events_are_compared_in_any_spelling() -> None:
    """Patterns cover names, and names their other spellings."""
    assert covers_events("tool:*", ["tool:pre", "tool:post"])
    assert covers_events(["tool:pre"], "tool:pre")
    assert not covers_events("tool:pre", "tool:*")
