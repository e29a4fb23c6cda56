"""hooks-rules: policies from YAML, checked at load, failing closed."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.errors import ModuleLoadError
from amplifier_core.models import HookResult
from amplifier_foundation.hooks.rules.answer import merge_data
from amplifier_foundation.hooks.rules.rule import Rule
from amplifier_foundation.hooks.rules.ruleset import RuleSet, load_rule
from tests.support.harness import Harness

DENY = {"action": "deny", "reason": "no"}


async def answer(
    directory: Path, rules: str | list[dict[str, Any]], tool: str, tool_input: Any, **config: Any
) -> HookResult:
    """What the rules answer to one tool call."""
    harness = Harness(directory)
    entries = yaml.safe_load(rules) if isinstance(rules, str) else rules
    await harness.mount("rules", {"rules": entries, **config})
    return await harness.answer(tool, tool_input)


@pytest.mark.parametrize(
    ("tool", "name", "applies"),
    [
        ("Bash", "Bash", True),
        ("Bash", "bash", False),
        ("mcp__*", "mcp__git__push", True),
        (["Edit", "Write"], "Write", True),
        (["Edit", "Write"], "Read", False),
        ("*", "anything", True),
    ],
)
async def test_a_rule_applies_to_the_tools_it_names(
    tmp_path: Path, tool: Any, name: str, applies: bool
) -> None:
    """tool (glob)."""
    result = await answer(tmp_path, [{"tool": tool, **DENY}], name, {})
    assert (result.action == "deny") == applies


@pytest.mark.parametrize(
    ("path", "applies"),
    [
        ("db/migrations/1.sql", True),
        ("x/../db/migrations/1.sql", True),
        ("DB/Migrations/1.sql", True),
        ("link/1.sql", True),
        ("db/other/1.sql", False),
    ],
)
async def test_paths_are_resolved_before_they_are_compared(
    tmp_path: Path, path: str, applies: bool
) -> None:
    """path (globs, resolved), T6."""
    (tmp_path / "db" / "migrations").mkdir(parents=True)
    (tmp_path / "link").symlink_to("db/migrations")
    rules = [{"path": ["**/migrations/**"], **DENY, "reason": "{path} is history"}]
    result = await answer(tmp_path, rules, "Write", {"file_path": path})
    assert (result.action == "deny") == applies
    if applies:
        assert str(tmp_path) in (result.reason or "")


COMMANDS = [
    ("git push --force|-f", "git push --force", True),
    ("git push --force|-f", "sudo git -C x push -uf origin", True),
    ("git push --force|-f", "bash -c 'git push -f'", True),
    ("git push --force|-f", "git push origin main", False),
    ("git push --force|-f", "echo git push --force", False),
    ({"program": "git", "flag": ["--force", "-f"], "argument": "push"}, "git push -f", True),
    ({"program": ["npm", "yarn"], "argument": "publish"}, "yarn publish", True),
    ({"program": "rm", "flag": "-r"}, "find . -exec rm -rf {} +", True),
    ({"flag": "--no-verify"}, "git commit --no-verify", True),
    (["curl", "wget"], "ls | wget x", True),
]


@pytest.mark.parametrize(("pattern", "command", "applies"), COMMANDS)
async def test_commands_are_parsed(
    tmp_path: Path, pattern: Any, command: str, applies: bool
) -> None:
    """command (parsed: program, flag, argument), T7."""
    rules = [{"tool": "Bash", "command": pattern, **DENY}]
    result = await answer(tmp_path, rules, "Bash", {"command": command})
    assert (result.action == "deny") == applies, result


@pytest.mark.parametrize("command", ["$x push --force", "git $args", "echo 'open", "eval $x"])
async def test_a_command_that_cannot_be_told_is_asked_about(tmp_path: Path, command: str) -> None:
    """Fail closed: a guarding rule that cannot tell asks; an observing one keeps quiet."""
    rule = {"tool": "Bash", "command": "git push --force", **DENY}
    asked = await answer(tmp_path, [rule], "Bash", {"command": command})
    assert asked.action == "ask_user"
    denied = await answer(tmp_path, [rule], "Bash", {"command": command}, unclear="deny")
    assert denied.action == "deny"
    watching = {**rule, "action": "continue", "user_message": "seen"}
    watching.pop("reason")
    quiet = await answer(tmp_path, [watching], "Bash", {"command": command})
    assert quiet.user_message is None


@pytest.mark.parametrize(
    ("regex", "tool_input", "applies"),
    [
        ({"tool_input.command": r"curl\s.*\|\s*sh"}, {"command": "curl x | sh"}, True),
        ({"tool_input.command": "^ls"}, {"command": "echo ls"}, False),
        ({"tool_input.command": "x", "tool_name": "^Other$"}, {"command": "x"}, False),
        ("(?i)drop table", {"deep": [{"sql": "DROP TABLE x"}]}, True),
        ("secret", {"secret": 1}, True),
        ({"tool_input.missing": "."}, {}, False),
        ({"tool_input.items.1": "b"}, {"items": ["a", "b"]}, True),
        ({"tool_input.n": "^42$"}, {"n": 42}, True),
    ],
)
async def test_regular_expressions_look_at_a_field_or_everywhere(
    tmp_path: Path, regex: Any, tool_input: dict[str, Any], applies: bool
) -> None:
    """regex (RE2) on a field, or on any text of the input."""
    result = await answer(tmp_path, [{"regex": regex, **DENY}], "Bash", tool_input)
    assert (result.action == "deny") == applies


async def test_a_hostile_regex_cannot_stall_the_loop(tmp_path: Path) -> None:
    """Hostile regexes cannot stall the loop: 28 letters took the stdlib engine 41 s."""
    start = time.perf_counter()
    result = await answer(
        tmp_path, [{"regex": "(a+)+$", **DENY}], "Bash", {"command": "a" * 200_000 + "b"}
    )
    assert result.action == "continue"
    assert time.perf_counter() - start < 3


@pytest.mark.parametrize(
    ("when", "applies"),
    [
        ('tool_name == "Bash"', True),
        ('has(tool_input.command) && tool_input.command.contains("x")', True),
        ("tool_input.timeout > 100", True),
        ("size(tool_input.list) == 2 && tool_input.list[1] == 'b'", True),
        ('data.session_id == "test-session"', True),
        ('event == "tool:post"', False),
        ("tool_input.big > 1e20", True),
        ("tool_input.none == null", True),
    ],
)
async def test_a_condition_in_cel_decides(tmp_path: Path, when: str, applies: bool) -> None:
    """optional `when` in CEL."""
    tool_input = {
        "command": "x\udc80",
        "timeout": 200,
        "list": ("a", "b"),
        "none": None,
        "big": 10**30,
        "odd": object(),
    }
    result = await answer(tmp_path, [{"when": when, **DENY}], "Bash", tool_input)
    assert (result.action == "deny") == applies, result.reason
    assert "evaluated" not in (result.reason or "")


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


@pytest.mark.parametrize(
    ("event", "heard", "applies"),
    [
        ("tool:post", "tool:post", True),
        ("tool:*", "tool:post", True),
        ("*", "prompt:submit", True),
        (["tool:error"], "error:tool", True),
        ("error:tool", "tool:error", True),
        ("context:pre-compact", "context:pre_compact", True),
        ("my_module:thing", "my_module:thing", True),
        ("tool:post", "tool:pre", False),
    ],
)
async def test_rules_listen_to_any_event_in_either_spelling(
    tmp_path: Path, event: Any, heard: str, applies: bool
) -> None:
    """event: a name, a list, a pattern; the spellings of one event are the same event."""
    harness = Harness(tmp_path)
    await harness.mount("rules", {"rules": [{"event": event, **DENY}]})
    result = await harness.hooks.emit(heard, {"tool_name": "x"})
    assert (result.action == "deny") == applies


async def test_rules_come_from_files_too(tmp_path: Path) -> None:
    """Rules inline in config or in a file."""
    (tmp_path / "a.yaml").write_text("rules:\n- {name: a, tool: A, action: deny, reason: a}\n")
    (tmp_path / "b.yaml").write_text("- {name: b, tool: B, action: deny, reason: b}\n")
    rules = [{"name": "c", "tool": "C", **DENY}]
    for tool in "ABC":
        result = await answer(tmp_path, rules, tool, {}, file=["a.yaml", "b.yaml"])
        assert result.action == "deny"


async def test_a_disabled_rule_does_nothing(tmp_path: Path) -> None:
    """`enabled: false` switches a rule off, and it is still checked."""
    assert (await answer(tmp_path, [{**DENY, "enabled": False}], "Bash", {})).action == "continue"


BROKEN = [
    ("- {name: a, acton: deny}", "rule 'a'", "'acton'", "did you mean 'action'?"),
    ("- {name: a, action: denny, reason: x}", "rule 'a'", "'action'", "'deny'"),
    ("- {name: a, action: deny}", "rule 'a'", "needs 'reason'"),
    ("- {action: deny}", "rule number 1", "needs 'reason'"),
    ("- {name: a, action: ask_user}", "rule 'a'", "needs 'approval_prompt'"),
    ("- {name: a, action: modify}", "rule 'a'", "needs 'data'"),
    ("- {name: a, action: inject_context}", "rule 'a'", "needs 'context_injection'"),
    ("- {name: a, action: deny, reason: x, ephemeral: true}", "rule 'a'", "'ephemeral' belongs to"),
    ("- {name: a, action: continue, regex: '(?=x)'}", "rule 'a'", "'regex'", "no look-around"),
    ("- {name: a, action: continue, regex: {x: '('}}", "rule 'a'", "'regex'", "not a pattern"),
    ("- {name: a, action: continue, when: 'tool_nam == 1'}", "rule 'a'", "'when'", "tool_nam"),
    ("- {name: a, action: continue, when: 'tool_name == 3'}", "rule 'a'", "'when'", "overload"),
    ("- {name: a, action: continue, when: 'tool_name'}", "rule 'a'", "'when'", "STRING"),
    ("- {name: a, action: continue, when: '1 +'}", "rule 'a'", "'when'", "Syntax"),
    ("- {name: a, action: continue, event: tool:pree}", "rule 'a'", "'event'", "'tool:pre'"),
    ("- {name: a, action: continue, event: nothing}", "rule 'a'", "'event'", "have ["),
    ("- {name: a, action: continue, path: []}", "rule 'a'", "'path'", "empty"),
    ("- {name: a, action: continue, tool: ' '}", "rule 'a'", "'tool'", "empty"),
    ("- {name: a, action: continue, command: ''}", "rule 'a'", "'command'", "empty"),
    ("- {name: a, action: continue, command: {programm: x}}", "rule 'a'", "'program'"),
    ("- {name: a, action: continue, unless: {regx: x}}", "rule 'a'", "did you mean 'regex'?"),
    ("- {name: a, action: continue, unless: {when: '1'}}", "rule 'a'", "'unless.when'"),
    ("- {name: a, action: continue}\n- {name: a, action: continue}", "two rules named 'a'"),
    ("- just text", "rule number 1", "must be a mapping"),
    ("- {name: a, action: ask_user, approval_prompt: x, approval_timeout: -1}", "timeout"),
    ("- {name: a, action: ask_user, approval_prompt: x, approval_options: []}", "options"),
]


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken[0][:50])
@pytest.mark.parametrize("from_file", [False, True])
async def test_a_broken_rule_is_named_with_its_key(
    tmp_path: Path, broken: tuple[str, ...], from_file: bool
) -> None:
    """Validated at load with errors naming rule and key and nearest right key."""
    text, *words = broken
    harness = Harness(tmp_path)
    (tmp_path / "rules.yaml").write_text(text)
    entries = yaml.safe_load(text)
    if not from_file and not all(isinstance(entry, dict) for entry in entries):
        words = ["rules"]
    config = {"file": "rules.yaml"} if from_file else {"rules": entries}
    with pytest.raises(ModuleLoadError) as refused:
        await harness.mount("rules", config)
    message = str(refused.value)
    assert [word for word in words if word not in message] == [], message
    assert "\n" not in message
    assert not any(harness.hooks.list_handlers().values())


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "cannot be read"),
        ("rules: [", "line"),
        ("a: b", "no list of rules"),
        ("\x00", "no YAML"),
        ("!!python/object/apply:os.system [ls]", "no YAML"),
    ],
)
async def test_a_broken_file_is_named(tmp_path: Path, content: str | None, words: str) -> None:
    """A rules file that cannot be used is an error with its name, and nothing in it is run."""
    if content is not None:
        (tmp_path / "rules.yaml").write_text(content)
    with pytest.raises(ModuleLoadError) as refused:
        await Harness(tmp_path).mount("rules", {"file": "rules.yaml"})
    assert words in str(refused.value)
    assert "rules.yaml" in str(refused.value)


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
        expected = tuple(rule for rule in rules if rule.listens("tool:pre", name))
        assert index.for_event("tool:pre", name) == expected


def test_many_tool_names_do_not_fill_the_memory() -> None:
    """What the index remembers is bounded."""
    index = RuleSet([])
    for number in range(5_000):
        index.for_event("tool:pre", str(number))
    assert len(index._remembered) <= 1_024


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


def test_a_thousand_rules_are_not_looked_at_for_other_tools() -> None:
    """Index by event and tool: a rule is asked once per tool whether it listens, then never again.

    What that costs in microseconds, `benchmarks/bench_rules.py` measures.
    """
    asked: list[str] = []

    class Counted:
        def __init__(self, name: str) -> None:
            self.name = name

        def listens(self, event: str, tool: str) -> bool:
            asked.append(self.name)
            return tool == "Bash"

    rules = RuleSet(Counted(str(n)) for n in range(1_000))  # type: ignore[misc]
    assert rules.for_event("tool:pre", "Read") == ()
    assert len(asked) == 1_000
    assert [rules.for_event("tool:pre", "Read") for _ in range(100)] == [()] * 100
    assert len(asked) == 1_000
    assert len(rules.for_event("tool:pre", "Bash")) == 1_000
