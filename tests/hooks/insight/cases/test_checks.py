"""Checks that look at several keys."""

from __future__ import annotations

import pytest

from amplifier_hooks.insight.cases.checks import find_contradictions
from amplifier_hooks.yaml_files.node import Place, make_node

CASE = {"event": "tool:pre", "expect": "deny"}


@pytest.mark.parametrize(
    ("file", "told"),
    [
        ({"hook": "a", "bundle": "b"}, "bundle: a file names a hook or a bundle, not both"),
        ({"bundle": "b", "config": {}}, "config: a bundle has the options of its modules itself"),
        (
            {"bundle": "b", "cases": [{**CASE, "config": {}}]},
            "case 1.config: a bundle has the options of its modules itself",
        ),
        (
            {"cases": [{"expect": "deny"}]},
            "case 1.event: is missing; a case has an event, or steps",
        ),
        (
            {"cases": [{"event": "tool:pre"}]},
            "case 1.expect: is missing; say what the hooks should",
        ),
        (
            {"cases": [{"steps": [CASE], "event": "x"}]},
            "case 1.event: belongs into one of the steps",
        ),
        (
            {"cases": [{"steps": [{"event": "tool:pre"}]}]},
            "case 1.steps: at least one step must say what to expect",
        ),
        (
            {"cases": [{**CASE, "data": {"tool_nam": "Bash"}}]},
            "case 1.data.tool_nam: tool:pre has no field 'tool_nam'; did you mean 'tool_name'?",
        ),
        (
            {"cases": [{"steps": [CASE, {**CASE, "data": {"tool_inptu": {}}}]}]},
            "case 1.steps[1].data.tool_inptu: tool:pre has no field",
        ),
        (
            {"cases": [{**CASE, "name": "a"}, {**CASE, "name": "a"}]},
            "case 'a'.name: there is another case of this name in line 7",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(file: dict[str, object], told: str) -> None:
    """Each with its key and what would do."""
    (problem,) = find_contradictions(make_node({"cases": [CASE], **file}, Place("f", 7)))
    assert str(problem).startswith(f"f:7: {told}")


def test_fields_of_its_own_are_allowed() -> None:
    """An event may carry more than its schema says, and a module's event says nothing."""
    own = [
        {**CASE, "data": {"ticket": 7}},
        {**CASE, "event": "deploy:done", "data": {"tool_nam": 1}},
    ]
    assert not list(find_contradictions(make_node({"cases": own}, Place("f", 1))))
