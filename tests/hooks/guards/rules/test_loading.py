"""A finding says in which line its rule begins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.guards.rules.rule_lines import find_rule_lines
from tests.hooks.guards.rules.asking import DENY, answer
from tests.support.harness import Harness


def test_rules_are_found_wherever_a_list_of_them_stands() -> None:
    """At the top, under `rules`, and in the entry of a bundle; unnamed ones by their number."""
    assert find_rule_lines("- name: a\n  action: deny\n\n- action: deny\n") == {
        "a": 1,
        "rule-2": 4,
    }
    bundle = "hooks:\n  - module: hooks-rules\n    config:\n      rules:\n        - name: b\n"
    assert find_rule_lines(bundle) == {"b": 5}


def test_text_that_is_no_yaml_has_no_rules() -> None:
    """Whoever loads it says what is wrong; here it is only lines that are missing."""
    assert find_rule_lines("rules: [") == {}
    assert find_rule_lines("") == {}


def test_an_alias_in_a_circle_ends() -> None:
    """A text cannot stall the search."""
    assert find_rule_lines("&a\nrules:\n  - name: x\n    again: *a\n") == {"x": 3}


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
    ("- {name: a, action: deny, access: read}", "rule 'a'", "give a 'path'"),
    ("- {action: deny, path: x, access: reed}", "rule number 1", "'access'", "'read'"),
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
    (
        "- {name: a, action: continue, event: nothing}",
        "rule 'a'",
        "'event'",
        "called like 'deploy:start'",
    ),
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
        ("\x00", "not YAML"),
        ("- 2026-13-45", "not YAML: month must be"),
        ("!!python/object/apply:os.system [ls]", "not YAML"),
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


@pytest.mark.parametrize("config", [None, {}, {"dry_run": True}])
async def test_without_rules_there_is_nothing_to_guard(config: dict[str, Any] | None) -> None:
    """Whoever forgot them believes that there are some; an empty list is said on purpose."""
    harness = Harness()
    with pytest.raises(ModuleLoadError, match="give 'rules'"):
        await harness.mount("rules", config)
    await harness.mount("rules", {"rules": []})
    assert harness.hooks.list_handlers() == {}
