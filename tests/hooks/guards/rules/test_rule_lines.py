"""A finding says in which line its rule begins."""

from __future__ import annotations

from amplifier_hooks.guards.rules.rule_lines import find_rule_lines


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
