"""The options of hooks-rules, and rules that are broken."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from amplifier_core.errors import ModuleLoadError
from tests.hooks.guards.rules.asking import DENY, answer
from tests.support.harness import Harness


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
