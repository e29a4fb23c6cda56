"""What a bundle may say: every mistake gets its own sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.mount_plan import ModuleEntry, MountPlan
from amplifier_hooks.agent.bundles import schema
from amplifier_hooks.agent.bundles.schema import (
    Rule,
    any_text,
    anything,
    boolean,
    choice,
    either,
    integer,
    listing,
    mapping,
    optional,
    private_address,
    refuse_kind,
    seconds,
    several,
    switch,
    table,
    text,
)
from amplifier_hooks.yaml_files.node import Node, Place, Problem, find_broken, make_node
from tests.hooks.agent.bundles.files import Mistake, check_mistake, complaint, load

PLACE = Place("f")
PERSON = mapping({"name": text, "age": integer(0)}, required=["name"])


def container_problems(rule: Rule, value: Any) -> list[str]:
    return [f"{one.key}: {one.message}" for one in rule(make_node(value, PLACE), "k")]


@pytest.mark.parametrize(
    ("rule", "value", "expected"),
    [
        (optional(text), None, []),
        (several(text), ["x", "y"], []),
        (several(text), [], ["k: must not be empty"]),
        (several(text), "x", ["k: must be a list, got a text 'x'"]),
        (several(text), ["x", 3], ["k[1]: must be a text, got a whole number 3"]),
        (optional(text), "x", []),
        (optional(text), 3, ["k: must be a text, got a whole number 3"]),
        (either(text, boolean, "a or b"), "x", []),
        (either(text, boolean, "a or b"), True, []),
        (either(text, boolean, "a or b"), 3, ["k: must be a or b, got a whole number 3"]),
        (listing(text), [], []),
        (listing(text), ["a", 3], ["k[1]: must be a text, got a whole number 3"]),
        (listing(text), "ab", ["k: must be a list, got a text 'ab'"]),
        (listing(listing(text)), [["a"], [0]], ["k[1][0]: must be a text, got a whole number 0"]),
        (table(text), {}, []),
        (table(text), {"a": "x", "b": 3}, ["k.b: must be a text, got a whole number 3"]),
        (table(text), ["a"], ["k: must be a mapping, got a list"]),
        (PERSON, {"name": "x", "age": 3}, []),
        (PERSON, {}, ["k.name: is missing; k needs it"]),
        (PERSON, {"nam": "x"}, ["k.nam: unknown key 'nam'; did you mean 'name'?"]),
        (
            PERSON,
            {"zzz": 1},
            ["k.zzz: unknown key 'zzz'; have age, name", "k.name: is missing; k needs it"],
        ),
        (
            PERSON,
            {"name": "", "age": -1},
            ["k.name: must not be empty", "k.age: must be at least 0, got -1"],
        ),
        (PERSON, None, ["k: must be a mapping, got nothing"]),
        (mapping({"a": text}, prefix="x-"), {"a": "b", "x-own": 3}, []),
        (mapping({"a": text}), {"x-own": 3}, ["k.x-own: unknown key 'x-own'; have a"]),
    ],
)
def test_each_rule_says_where_its_parts_are_wrong(
    rule: Rule, value: Any, expected: list[str]
) -> None:
    """The key leads to the part; a misspelt key is not also told as missing."""
    assert container_problems(rule, value) == expected


@pytest.mark.parametrize(
    ("rule", "shape"),
    [(listing(text), "list"), (table(text), "mapping"), (mapping({"a": text}), "mapping")],
)
def test_a_problem_that_stands_for_a_value_is_left_for_later(rule: Rule, shape: str) -> None:
    """A layer above may still replace it; only what is left after merging counts."""
    broken = Node(Problem(PLACE, "k.a", "is not set"), PLACE)
    holder = Node((broken,) if shape == "list" else {"a": broken}, PLACE)
    assert list(rule(holder, "k")) == []


def test_at_the_top_a_key_stands_alone() -> None:
    """No dot before the first key of a document."""
    [problem] = mapping({"a": text})(make_node({"a": 1}, PLACE), "")
    assert problem.key == "a"


@pytest.mark.parametrize(
    ("value", "got"),
    [
        ("high", "got a text 'high'"),
        (7, "got a whole number 7"),
        (True, "got true or false True"),
        (None, "got nothing"),
        ([1, 2], "got a list"),
        ({"a": 1}, "got a mapping"),
    ],
)
def test_the_value_is_shown_unless_it_is_long(value: Any, got: str) -> None:
    """Lists and mappings are named and not written out."""
    problem = refuse_kind(make_node(value, Place("f", 2)), "k", "a number")
    assert str(problem) == f"f:2: k: must be a number, {got}"


def problems(rule: Rule, value: Any) -> list[str]:
    return [problem.message for problem in rule(make_node(value, Place("f")), "k")]


@pytest.mark.parametrize(
    ("rule", "values"),
    [
        (anything, [None, 3, [], {}]),
        (text, ["x", " x "]),
        (any_text, ["", "x"]),
        (private_address, ["http://127.0.0.1:8411", "http://localhost", "https://host.test"]),
        (boolean, [True, False]),
        (switch, [True, False, None]),
        (integer(), [0, -5, 10**20]),
        (integer(1), [1, 2]),
        (seconds, [1, 0.001, 1e9]),
        (choice("ask", "deny"), ["ask", "deny"]),
    ],
)
def test_a_right_value_is_no_problem(rule: Rule, values: list[Any]) -> None:
    """Nothing is said about it."""
    assert [problems(rule, value) for value in values] == [[]] * len(values)


@pytest.mark.parametrize(
    ("rule", "value", "message"),
    [
        (text, "", "must not be empty"),
        (text, " \n", "must not be empty"),
        (text, 3, "must be a text, got a whole number 3"),
        (boolean, "yes", "must be true or false, got a text 'yes'"),
        (boolean, None, "must be true or false, got nothing"),
        (switch, "true", "must be true or false, got a text 'true'"),
        (integer(), True, "must be a whole number, got true or false True"),
        (integer(), 1.0, "must be a whole number, got a number 1.0"),
        (integer(1), 0, "must be at least 1, got 0"),
        (seconds, 0, "must be positive and finite, got 0"),
        (seconds, -1.5, "must be positive and finite, got -1.5"),
        (seconds, float("inf"), "must be positive and finite, got inf"),
        (seconds, float("nan"), "must be positive and finite, got nan"),
        (seconds, True, "must be a number of seconds, got true or false True"),
        (seconds, "5s", "must be a number of seconds, got a text '5s'"),
        (choice("ask", "deny"), "denny", "unknown value 'denny'; did you mean 'deny'?"),
        (choice("ask", "deny"), "xyzzy", "unknown value 'xyzzy'; have ask, deny"),
        (choice("ask", "deny"), 3, "must be one of ask, deny, got a whole number 3"),
    ],
)
def test_a_wrong_value_is_told_with_what_would_do(rule: Rule, value: Any, message: str) -> None:
    """Each mistake is one problem with one sentence."""
    assert problems(rule, value) == [message]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (3, "must be a text, got a whole number 3"),
        ("", "must not be empty"),
        ("ftp://host.test", "must be an address that begins with http:// or https://, such as"),
        ("http://host.test", "leaves this machine without TLS; use https, such as"),
        ("http://127.0.0.1.evil.test", "leaves this machine without TLS"),
    ],
)
def test_a_server_is_on_this_machine_or_reached_through_tls(value: Any, said: str) -> None:
    """What people are asked, and what they answer, cannot be read on the way."""
    assert said in problems(private_address, value)[0]


def test_a_text_that_may_be_empty_is_still_a_text() -> None:
    """A number is none."""
    assert problems(any_text, 3) == ["must be a text, got a whole number 3"]


MISTAKES: dict[str, Mistake] = {
    "unknown section": (
        "session: {}\nhoks: []\n",
        2,
        "hoks: unknown key 'hoks'; did you mean 'hooks'?",
    ),
    "section from another world": (
        "kubernetes: {}\n",
        1,
        "kubernetes: unknown key 'kubernetes'; have agents, approval, audit, "
        "description, hooks, include, inherit, name, providers, sandbox, session, tools",
    ),
    "unknown key of a hook": (
        "hooks:\n  - module: hooks-rules\n    prioritty: 5\n",
        3,
        "hooks[0].prioritty: unknown key 'prioritty'; did you mean 'priority'?",
    ),
    "wrong case of a key": (
        "hooks:\n  - Module: hooks-rules\n",
        2,
        "hooks[0].Module: unknown key 'Module'; did you mean 'module'?",
    ),
    "hook without a module": (
        "hooks:\n  - config: {}\n",
        2,
        "hooks[0].module: is missing; hooks[0] needs it",
    ),
    "hooks as a mapping": (
        "hooks:\n  hooks-rules: {}\n",
        1,
        "hooks: must be a list, got a mapping",
    ),
    "providers as a text": (
        "providers: provider-openai\n",
        1,
        "providers: must be a list, got a text 'provider-openai'",
    ),
    "a tool that is a number": (
        "tools:\n  - tool-bash\n  - 7\n",
        3,
        "tools[1]: must be a mapping, got a whole number 7",
    ),
    "priority as a text": (
        "hooks:\n  - module: hooks-rules\n    priority: high\n",
        3,
        "hooks[0].priority: must be a whole number, got a text 'high'",
    ),
    "enabled as a text": (
        'hooks:\n  - module: hooks-rules\n    enabled: "no"\n',
        3,
        "hooks[0].enabled: must be true or false, got a text 'no'",
    ),
    "config as a list": (
        "hooks:\n  - module: hooks-rules\n    config:\n      - one\n",
        3,
        "hooks[0].config: must be a mapping, got a list",
    ),
    "empty module id": (
        'hooks:\n  - module: ""\n',
        2,
        "hooks[0].module: must not be empty",
    ),
    "the same hook twice": (
        "hooks:\n  - hooks-rules\n  - hooks-rules\n",
        3,
        "hooks[1]: 'hooks-rules' is listed twice, first in {file}:2; give one of them a name",
    ),
    "unknown session setting": (
        "session:\n  injection_budget: 5\n",
        2,
        "session.injection_budget: unknown key 'injection_budget'; "
        "did you mean 'injection_budget_per_turn'?",
    ),
    "negative budget": (
        "session:\n  injection_budget_per_turn: -1\n",
        2,
        "session.injection_budget_per_turn: must be at least 0, got -1",
    ),
    "no turns at all": (
        "session:\n  max_turns: 0\n",
        2,
        "session.max_turns: must be at least 1, got 0",
    ),
    "over-budget word": (
        "session:\n  injection_over_budget: warning\n",
        2,
        "session.injection_over_budget: unknown value 'warning'; did you mean 'warn'?",
    ),
    "true is no number": (
        "session:\n  injection_size_limit: true\n",
        2,
        "session.injection_size_limit: must be a whole number, got true or false True",
    ),
    "unknown limit": (
        "session:\n  limits:\n    agent_dept: 3\n",
        3,
        "session.limits.agent_dept: unknown key 'agent_dept'; did you mean 'agent_depth'?",
    ),
    "orchestrator as a list": (
        "session:\n  orchestrator: [loop-basic]\n",
        2,
        "session.orchestrator: must be a mapping, got a list",
    ),
    "agent without a description": (
        "agents:\n  critic:\n    instructions: Be strict.\n",
        2,
        "agents.critic.description: is missing; agents.critic needs it",
    ),
    "unknown key of an agent": (
        "agents:\n  critic:\n    description: Reviews.\n    instruction: Be strict.\n",
        4,
        "agents.critic.instruction: unknown key 'instruction'; did you mean 'instructions'?",
    ),
    "a tool of an agent that is nothing": (
        "agents:\n  critic:\n    description: Reviews.\n    tools:\n      - Read\n      - 3\n",
        6,
        "agents.critic.tools[1]: must be the name of a tool or a module entry, "
        "got a whole number 3",
    ),
    "audit level": (
        "audit:\n  level: everything\n",
        2,
        "audit.level: unknown value 'everything'; have decisions, full, normal",
    ),
    "audit failure word": (
        "audit:\n  on_failure: denny\n",
        2,
        "audit.on_failure: unknown value 'denny'; did you mean 'deny'?",
    ),
    "approval timeout of nothing": (
        "approval:\n  timeout: 0\n",
        2,
        "approval.timeout: must be positive and finite, got 0",
    ),
    "endless approval timeout": (
        "approval:\n  timeout: .inf\n",
        2,
        "approval.timeout: must be positive and finite, got inf",
    ),
    "a list as a bundle": (
        "- hooks-rules\n",
        1,
        "must be a mapping, got a list",
    ),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_told_with_file_line_key_and_what_would_do(case: str, tmp_path: Path) -> None:
    """One sentence, in which the nearest right word stands where there is one."""
    check_mistake(tmp_path, MISTAKES[case])


def test_every_problem_of_a_file_is_told_at_once(tmp_path: Path) -> None:
    """One line each, in the order of the file."""
    path = tmp_path / "b.yaml"
    path.write_text("audit:\n  levle: full\nhooks:\n  - modul: x\n")
    assert complaint(path).splitlines() == [
        f"{path}:2: audit.levle: unknown key 'levle'; did you mean 'level'?",
        f"{path}:4: hooks[0].modul: unknown key 'modul'; did you mean 'module'?",
    ]


def test_every_key_of_an_entry_that_the_kernel_reads_may_be_written() -> None:
    """What the schema allows and what the kernel reads are one list, but for two bundle matters."""
    allowed = dict.fromkeys(ModuleEntry.model_fields, None) | {"module": "x", "enabled": True}
    values = {"source": "s", "name": "n", "instance_id": "i", "config": {}, "priority": 1}
    values |= {"required": True, "mode": "shadow"}
    entry = {key: values.get(key, value) for key, value in allowed.items()} | {"locked": True}
    assert list(schema.HOOK(make_node(entry, Place("f")), "hooks[0]")) == []
    assert entry.keys() - ModuleEntry.model_fields.keys() == {"enabled"}


def test_a_plan_that_keeps_the_schema_is_a_plan_for_the_kernel(tmp_path: Path) -> None:
    """Whatever a bundle may say, the kernel can read."""
    text = json.dumps(
        {
            "session": {"max_turns": 2, "turn_timeout": None, "limits": {"agent_depth": 0}},
            "tools": ["tool-bash", {"module": "./x.py", "name": "n", "priority": -1}],
            "hooks": [{"module": "h", "config": None, "required": True, "locked": True}],
            "agents": {"a": {"description": "A.", "tools": ["Read", {"module": "tool-x"}]}},
        }
    )
    plan = load(tmp_path, text).mount_plan
    assert [entry.module for entry in MountPlan.parse(plan).tools][-1] == "x"


@pytest.mark.parametrize("key", ["orchestrator", "context"])
def test_options_beside_the_session_are_for_plans_in_code(key: str) -> None:
    """Plans of the ecosystem have them; in a file they would be a second place for one thing."""
    document = make_node({key: {"config": {"a": 1}}}, Place("f"))
    assert list(schema.find_problems(document, schema.MOUNT_PLAN)) == []
    [problem] = schema.find_problems(document)
    assert f"unknown key {key!r}" in problem.message


def test_a_name_may_tell_two_entries_of_one_module_apart() -> None:
    """Only the same name twice, or no name twice, is a mistake."""
    twins: list[Any] = [{"module": "m", "name": "a"}, {"module": "m", "name": "b"}, {"module": "m"}]
    document = make_node({"hooks": twins}, Place("f"))
    assert list(schema.find_problems(document)) == []
    again = make_node({"hooks": [*twins, {"module": "x", "name": "a"}]}, Place("f"))
    assert [problem.key for problem in schema.find_problems(again)] == ["hooks[3]"]
    assert not list(find_broken(again))
