"""What a bundle may say: every mistake gets its own sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.mount_plan import ModuleEntry, MountPlan
from amplifier_core.mount_plan.schema import Hook, Limits, PlanSession, Section
from amplifier_hooks.agent.bundles import schema
from amplifier_hooks.agent.bundles.schema import Plan, find_problems
from amplifier_hooks.yaml_files.node import Place, find_broken, make_node
from tests.hooks.agent.bundles.files import Mistake, check_mistake, complaint, load


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:8411", "http://localhost", "https://host.test"]
)
def test_a_server_may_be_on_this_machine_or_reached_through_tls(address: str) -> None:
    """For people who are asked, and for the witness of a trail."""
    sections = {"approval": {"server": address}, "audit": {"witness": address}}
    assert list(find_problems(make_node(sections, Place("f")))) == []


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
@pytest.mark.parametrize(("section", "key"), [("approval", "server"), ("audit", "witness")])
def test_another_server_is_refused(section: str, key: str, value: Any, said: str) -> None:
    """What people are asked, and what they answer, cannot be read on the way."""
    [problem] = find_problems(make_node({section: {key: value}}, Place("f")))
    assert problem.key == f"{section}.{key}"
    assert said in problem.message


def test_each_key_is_described() -> None:
    """An editor shows the sentence beside the key; a new key needs one."""
    models: list[type[Section]] = [
        schema.BundleFile,
        schema.Approval,
        schema.Audit,
        schema.Sandbox,
        schema.Agent,
    ]
    models += [PlanSession, Limits, Hook]
    for model in models:
        for key, field in model.model_fields.items():
            assert (field.description or "").endswith("."), f"{model.__name__}.{key}"


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
        "description, hooks, include, inherit, name, profile, providers, rules, sandbox, secrets, "
        "session, tools",
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
    "a tool of an agent in shadow mode": (
        "agents:\n  a:\n    description: A.\n    tools:\n      - {module: tool-x, mode: shadow}\n",
        5,
        "agents.a.tools[0]: must be the name of a tool or a module entry, got a mapping",
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
    assert list(find_problems(make_node({"hooks": [entry]}, Place("f")))) == []
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
    assert list(find_problems(document, Plan)) == []
    [problem] = find_problems(document)
    assert f"unknown key {key!r}" in problem.message


def test_a_name_may_tell_two_entries_of_one_module_apart() -> None:
    """Only the same name twice, or no name twice, is a mistake."""
    twins: list[Any] = [{"module": "m", "name": "a"}, {"module": "m", "name": "b"}, {"module": "m"}]
    document = make_node({"hooks": twins}, Place("f"))
    assert list(find_problems(document)) == []
    again = make_node({"hooks": [*twins, {"module": "x", "name": "a"}]}, Place("f"))
    assert [problem.key for problem in find_problems(again)] == ["hooks[3]"]
    assert not list(find_broken(again))
