"""The form of a file with cases."""

from __future__ import annotations

import pytest

from amplifier_hooks.insight.cases.schema import find_contradictions, find_pattern, find_problems
from amplifier_hooks.yaml_files.node import Place, make_node

CASE_CHECKS = {"event": "tool:pre", "expect": "deny"}


@pytest.mark.parametrize(
    ("file", "told"),
    [
        ({"hook": "a", "bundle": "b"}, "bundle: a file names a hook or a bundle, not both"),
        ({"bundle": "b", "config": {}}, "config: a bundle has the options of its modules itself"),
        (
            {"bundle": "b", "cases": [{**CASE_CHECKS, "config": {}}]},
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
            {"cases": [{"steps": [CASE_CHECKS], "event": "x"}]},
            "case 1.event: belongs into one of the steps",
        ),
        (
            {"cases": [{"steps": [{"event": "tool:pre"}]}]},
            "case 1.steps: at least one step must say what to expect",
        ),
        (
            {"cases": [{**CASE_CHECKS, "data": {"tool_nam": "Bash"}}]},
            "case 1.data.tool_nam: tool:pre has no field 'tool_nam'; did you mean 'tool_name'?",
        ),
        (
            {"cases": [{"steps": [CASE_CHECKS, {**CASE_CHECKS, "data": {"tool_inptu": {}}}]}]},
            "case 1.steps[1].data.tool_inptu: tool:pre has no field",
        ),
        (
            {"cases": [{**CASE_CHECKS, "name": "a"}, {**CASE_CHECKS, "name": "a"}]},
            "case 'a'.name: there is another case of this name in line 7",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(file: dict[str, object], told: str) -> None:
    """Each with its key and what would do."""
    (problem,) = find_contradictions(make_node({"cases": [CASE_CHECKS], **file}, Place("f", 7)))
    assert str(problem).startswith(f"f:7: {told}")


def test_events_and_fields_of_its_own_are_allowed() -> None:
    """An event may carry more than its schema says, and a module's event says nothing."""
    own = [
        {**CASE_CHECKS, "data": {"ticket": 7}},
        {**CASE_CHECKS, "event": "deploy:done", "data": {"tool_nam": 1}},
    ]
    assert not list(find_contradictions(make_node({"cases": own}, Place("f", 1))))
    assert check(event="deploy:done") == []


CASE = {"event": "tool:pre", "expect": "deny"}


def check(**keys: object) -> list[str]:
    """The problems of a file with one case, which has these keys in addition."""
    document = make_node({"cases": [{**CASE, **keys}]}, Place("f", 1))
    return [f"{one.key}: {one.message}" for one in find_problems(document)]


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({"expct": "deny"}, "case 1.expct: unknown key 'expct'; did you mean 'expect'?"),
        ({"event": "tool:per"}, "case 1.event: no event 'tool:per' is known; did you mean 'tool:"),
        ({"event": "tool:*"}, "case 1.event: must be one event, such as tool:pre, not 'tool:*'"),
        ({"event": "elsewhere"}, "no event 'elsewhere' is known; one of a module's own is called"),
        ({"expect": "denied"}, "case 1.expect: unknown value 'denied'; did you mean 'deny'?"),
        ({"expect": []}, "case 1.expect: must be one of continue, deny, modify"),
        ({"expect": {}}, "case 1.expect: must not be empty; name an action, such as deny"),
        ({"expect": {"acton": "deny"}}, "case 1.expect.acton: unknown key 'acton'; did you mean"),
        ({"expect": {"reason": 3}}, "case 1.expect.reason: must be a text, got a whole number 3"),
        (
            {"expect": {"reason": "/(/"}},
            "expect.reason: /(/ is not a regular expression: missing )",
        ),
        ({"data": "x"}, "case 1.data: must be a mapping, got a text 'x'"),
        ({"times": 0}, "case 1.times: must be at least 1, got 0"),
        (
            {"files": {"../x": ""}},
            "case 1.files.../x: must be a path inside the folder of the case",
        ),
        ({"name": "n", "expect": 1}, "case 'n'.expect: must be one of"),
    ],
)
def test_a_mistake_is_told_with_its_case_its_key_and_what_would_do(
    keys: dict[str, object], told: str
) -> None:
    """A case that is read otherwise than it was meant would prove nothing."""
    (problem,) = check(**keys)
    assert told in problem


def test_a_file_without_cases_says_what_is_missing() -> None:
    """An empty file, and an empty list."""
    (missing,) = find_problems(make_node({}, Place("f", 1)))
    assert str(missing) == "f:1: cases: is missing; the file needs it"
    (empty,) = find_problems(make_node({"cases": []}, Place("f", 1)))
    assert str(empty) == "f:1: cases: must not be empty"


def test_slashes_around_a_text_make_it_a_regular_expression() -> None:
    """Two slashes alone are a text."""
    assert find_pattern("/rm +-r/") == "rm +-r"
    assert find_pattern("//") is find_pattern("/tmp") is find_pattern(None) is None
