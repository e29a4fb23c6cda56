"""What a rule that applies answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.guards.rules.answer import merge_data
from tests.hooks.guards.rules.asking import answer

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
