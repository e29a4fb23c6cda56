"""Mount plans that are written in code keep the same rules as files."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.mount_plan import MountPlan
from amplifier_hooks.agent.bundles import (
    BundleError,
    bundle_from_plan,
    mount_plan_problems,
    validate_mount_plan,
)

MINIMAL = {"session": {"orchestrator": "loop-basic", "context": "context-simple"}}


def test_a_mount_plan_written_in_code_is_checked_by_the_same_rules() -> None:
    """Misspelt keys, missing sections, and what is no plan at all."""
    validate_mount_plan(MINIMAL)
    wrong = {**MINIMAL, "hooks": [{"module": "x", "sorce": "y"}]}
    assert [str(problem) for problem in mount_plan_problems(wrong, "plan of test")] == [
        "plan of test: hooks[0].sorce: unknown key 'sorce'; did you mean 'source'?"
    ]
    with pytest.raises(BundleError, match=r"mount plan: session\.context: is missing"):
        validate_mount_plan({"session": {"orchestrator": "loop-basic"}})
    assert str(mount_plan_problems([])[0]) == "mount plan: must be a mapping, got list"  # type: ignore[arg-type]


def test_a_plan_of_the_ecosystem_is_a_valid_plan() -> None:
    """Options beside the session, sources that are addresses, an empty config."""
    plan = {
        **MINIMAL,
        "orchestrator": {"config": {"max_iterations": 5}},
        "context": {"config": {}},
        "providers": [{"module": "p", "source": "git+https://host.test/p@main", "config": {}}],
        "hooks": [{"module": "hooks-logging", "config": None}],
        "agents": {},
    }
    assert mount_plan_problems(plan) == ()
    source = bundle_from_plan(plan).mount_plan["providers"][0]["source"]
    assert source == "git+https://host.test/p@main"


def test_options_beside_the_session_reach_the_loop_and_the_context() -> None:
    """They are moved to the entries, unless those have options of their own."""
    own = {"module": "context-simple", "config": {"keep_last": 9}}
    plan = {
        "session": {"orchestrator": "loop-basic", "context": own},
        "orchestrator": {"config": {"max_turns": 3}},
        "context": {"keep_last": 2},
    }
    session = bundle_from_plan(plan).mount_plan["session"]
    assert session["orchestrator"]["config"] == {"max_turns": 3}
    assert session["context"]["config"] == {"keep_last": 9}
    read = MountPlan.parse(plan).session
    again = MountPlan.parse(bundle_from_plan(plan).mount_plan).session
    assert (again.orchestrator, again.context) == (read.orchestrator, read.context)


def test_sources_and_metadata_of_existing_plans_are_taken() -> None:
    """The sources reach the entries; what applications wrote under metadata stays."""
    session = {**MINIMAL["session"], "context_source": "git+https://host.test/c", "raw": True}
    plan = {"session": {**session, "metadata": {"run": 7}}}
    assert mount_plan_problems(plan) == ()
    found = bundle_from_plan(plan).mount_plan["session"]
    assert found["context"]["source"] == "git+https://host.test/c"
    assert (found["metadata"], found["raw"]) == ({"run": 7}, True)
    assert "context_source" not in found


def test_a_bundle_can_be_written_in_code() -> None:
    """The same checks, no files."""
    bundle = bundle_from_plan({**MINIMAL, "hooks": ["hooks-rules"]})
    assert bundle.mount_plan["hooks"] == [{"module": "hooks-rules", "config": {}}]
    assert (bundle.sources, bundle.reload()) == ((), bundle)
    with pytest.raises(BundleError, match="did you mean 'hooks'"):
        bundle_from_plan({**MINIMAL, "hoks": []})


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"session": None}, "session: must be a mapping, got nothing"),
        ({"tools": "tool-bash"}, "tools: must be a list, got a text 'tool-bash'"),
        ({"hooks": [{"module": 3}]}, "hooks[0].module: must be a text, got a whole number 3"),
        (
            {"hooks": [{"module": "h", "config": []}]},
            "hooks[0].config: must be a mapping, got a list",
        ),
        (
            {"approval": {"timeout": float("nan")}},
            "approval.timeout: must be positive and finite, got nan",
        ),
    ],
)
def test_a_mistake_in_code_has_a_key_and_no_line(change: dict[str, Any], problem: str) -> None:
    """The name that was given stands where a file would."""
    told = [str(one) for one in mount_plan_problems({**MINIMAL, **change}, "my plan")]
    assert told[0] == f"my plan: {problem}"


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(values)
def test_any_plan_gets_sentences_and_never_a_crash(value: Any) -> None:
    """Whatever stands in its sections."""
    plan = {"hooks": value, "session": value, "agents": value, "audit": value}
    assert all(str(problem) for problem in mount_plan_problems(plan))


@given(values)
def test_what_is_valid_here_can_be_read_by_the_kernel(value: Any) -> None:
    """The rules for people are never looser than what a session accepts."""
    plan = {**MINIMAL, "hooks": [{"module": "h", "config": value}], "tools": value}
    if not mount_plan_problems(plan):
        for read in (MountPlan.parse(bundle_from_plan(plan).mount_plan), MountPlan.parse(plan)):
            assert [entry.module for entry in read.hooks] == ["h"]
            assert len(read.tools) <= len(value or ())


def say(approval: dict[str, Any]) -> list[str]:
    """What is wrong with a section."""
    return [str(problem) for problem in mount_plan_problems({**MINIMAL, "approval": approval})]


SERVER = {"via": "server", "server": "http://127.0.0.1:8411", "token": "t0ken-of-an-agent"}


@pytest.mark.parametrize("missing", ["server", "token"])
def test_a_server_needs_its_address_and_a_token(missing: str) -> None:
    """Nobody could be asked otherwise, so the session does not start."""
    assert say(SERVER) == []
    found = say({key: value for key, value in SERVER.items() if key != missing})
    assert len(found) == 1
    assert f"approval.{missing}: is missing; approval.via: server needs" in found[0]


@pytest.mark.parametrize(
    ("key", "value"), [("persons", 2), ("requester_may_approve", False), ("scope", "release")]
)
def test_what_one_person_at_the_terminal_cannot_keep_is_refused_with_it(
    key: str, value: Any
) -> None:
    """A second person, or one who did not start the agent, is asked elsewhere."""
    assert say({"via": "store", key: value}) == []
    for via in ({}, {"via": ["terminal", "store"]}):
        found = say({**via, key: value})
        assert found == [
            f"mount plan: approval.{key}: cannot hold at the terminal; use approval.via: store, "
            "or server"
        ]


@pytest.mark.parametrize("via", [["store", ["server"]], {"store": 1}, [], 5, "web"])
def test_a_way_that_is_none_is_a_problem_with_its_place(via: Any) -> None:
    """In words; nothing is raised half-way."""
    assert any("approval.via" in one for one in say({"via": via}))
