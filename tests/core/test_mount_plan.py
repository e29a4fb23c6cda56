"""The plan of a session: what it may say, and what it means."""

from __future__ import annotations

import logging
import sys
from types import MappingProxyType
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from amplifier_core.errors import ModuleLoadError
from amplifier_core.mount_plan import (
    InjectionLimits,
    ModuleEntry,
    MountPlan,
    check_plan,
    copy_plan,
    list_ways,
    may_ask,
    read_approval_limit,
    read_calls_at_once,
    read_entry,
)
from amplifier_core.mount_plan import schema as plan_keys
from amplifier_core.mount_plan.schema import Expected, Module, find_misspelt, judge_keys
from amplifier_core.session import AmplifierSession
from amplifier_hooks.agent.bundles import mount_plan_problems

MINIMAL = {"session": {"orchestrator": "loop-basic", "context": "context-simple"}}


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("hooks-x", {"module": "hooks-x"}),
        ({"module": "hooks-x"}, {"module": "hooks-x"}),
        ({"source": "./x.py"}, {"module": "./x.py", "source": "./x.py"}),
        ({"module": "", "source": "./x.py"}, {"module": "./x.py", "source": "./x.py"}),
        ({"module": "x", "config": None, "source": None}, {"module": "x"}),
        (MappingProxyType({"module": "x", "priority": 3}), {"module": "x", "priority": 3}),
        (
            {"module": "x", "instance_id": "second", "enabled": True},
            {"module": "x", "instance_id": "second", "enabled": True},
        ),
        (
            {"module": "x", "config": {"a": [1, {"b": 2}]}},
            {"module": "x", "config": {"a": [1, {"b": 2}]}},
        ),
    ],
)
def test_an_entry_has_one_form_whatever_was_written(written: Any, expected: dict[str, Any]) -> None:
    """Bare ids become entries, empty values count as not given, unknown keys are kept."""
    assert read_entry("hooks", written).to_dict() == expected


def test_an_entry_that_was_read_is_not_read_again() -> None:
    """Reading twice gives the same object."""
    entry = ModuleEntry(module="x")
    assert read_entry("hooks", entry) is entry


def test_what_an_entry_leaves_open_has_its_default() -> None:
    """Not required, no priority, no source, no options."""
    entry = read_entry("tools", "x")
    assert (entry.required, entry.priority, entry.source, entry.config) == (False, None, None, {})


@pytest.mark.parametrize("entry", [42, {}, {"config": {}}, None, "", [], {"module": ""}, b"x"])
def test_an_entry_without_a_module_is_named(entry: Any) -> None:
    """The sentence has the list that it stands in and what stands there."""
    with pytest.raises(ModuleLoadError) as caught:
        read_entry("tools", entry)
    assert str(caught.value) == f"An entry of tools names its module, got {entry!r}"


@pytest.mark.parametrize(
    ("field", "value"),
    [("config", 5), ("config", ["a"]), ("priority", "high"), ("source", 7), ("required", "maybe")],
)
def test_an_option_of_another_kind_is_named_with_its_module(field: str, value: Any) -> None:
    """Which module, which key, which value."""
    with pytest.raises(ModuleLoadError) as caught:
        read_entry("tools", {"module": "tool-x", field: value})
    assert str(caught.value).startswith(f"Module 'tool-x': {field}: ")
    assert str(caught.value).endswith(f"got {value!r}")
    assert caught.value.module_id == "tool-x"


@pytest.mark.parametrize("plan", [None, {}, []])
def test_without_a_plan_there_is_no_session(plan: Any) -> None:
    """A ValueError that says what is required."""
    for read in (check_plan, MountPlan.parse):
        with pytest.raises(ValueError, match="Configuration is required"):
            read(plan)


@pytest.mark.parametrize("plan", [["x"], "x", 3])
def test_what_is_no_mapping_is_no_plan(plan: Any) -> None:
    """A TypeError that says what a session needs."""
    for read in (check_plan, MountPlan.parse):
        with pytest.raises(TypeError, match="A session needs a mount plan, got"):
            read(plan)


@pytest.mark.parametrize(
    ("session", "missing"),
    [
        (None, "orchestrator"),
        ([], "orchestrator"),
        ({}, "orchestrator"),
        ({"context": "c"}, "orchestrator"),
        ({"orchestrator": "o"}, "context"),
        ({"orchestrator": "o", "context": ""}, "context"),
    ],
)
def test_a_plan_needs_a_loop_and_a_context(session: Any, missing: str) -> None:
    """A ValueError with one that would do."""
    example = {"orchestrator": "loop-basic", "context": "context-simple"}[missing]
    for read in (check_plan, MountPlan.parse):
        with pytest.raises(
            ValueError, match=f"must specify session.{missing}, such as '{example}'"
        ):
            read({"session": session})


@pytest.mark.parametrize("kind", ["providers", "tools", "hooks"])
def test_a_list_of_modules_is_a_list(kind: str) -> None:
    """A text is not taken for a list of its letters; nothing is an empty list."""
    with pytest.raises(TypeError, match=f"{kind} of a mount plan is a list, got str"):
        MountPlan.parse({**MINIMAL, kind: "tool-bash"})
    assert getattr(MountPlan.parse({**MINIMAL, kind: None}), kind) == ()
    assert getattr(MountPlan.parse({**MINIMAL, kind: ("a",)}), kind)[0].module == "a"


def test_loop_and_context_are_required() -> None:
    """A session without them cannot run, whatever the plan says."""
    session = {"orchestrator": {"module": "o", "required": False}, "context": "c"}
    plan = MountPlan.parse({"session": session})
    assert plan.session.orchestrator.required
    assert plan.session.context.required


def test_options_of_loop_and_context_may_stand_beside_the_session() -> None:
    """Plans of the ecosystem have them at the top; options in the entry itself win."""
    plan = {**MINIMAL, "orchestrator": {"config": {"a": 1}}, "context": {"b": 2}}
    parsed = MountPlan.parse(plan).session
    assert (parsed.orchestrator.config, parsed.context.config) == ({"a": 1}, {"b": 2})
    empty = {**MINIMAL, "orchestrator": {"config": None}}
    assert MountPlan.parse(empty).session.orchestrator.config == {}
    own = {"orchestrator": {"module": "o", "config": {"c": 3}}, "context": "c"}
    assert MountPlan.parse({**plan, "session": own}).session.orchestrator.config == {"c": 3}


def test_wrong_options_beside_the_session_are_named() -> None:
    """They are checked like those in the entry."""
    with pytest.raises(ModuleLoadError, match=r"Module .context-simple.: config: .* got 5"):
        MountPlan.parse({**MINIMAL, "context": {"config": 5}})


def test_entries_come_in_the_order_of_mounting() -> None:
    """Hooks last: while they are mounted they may look for tools and providers."""
    plan = {**MINIMAL, "tools": ["t"], "providers": ["p"], "hooks": ["h1", "h2"]}
    order = [(kind, entry.module) for kind, entry in MountPlan.parse(plan).entries()]
    assert order == [
        ("orchestrator", "loop-basic"),
        ("context", "context-simple"),
        ("providers", "p"),
        ("tools", "t"),
        ("hooks", "h1"),
        ("hooks", "h2"),
    ]


def test_sections_that_the_kernel_does_not_know_are_kept() -> None:
    """They belong to whoever wrote them."""
    plan = {**MINIMAL, "agents": {"a": {}}, "audit": {"enabled": True}, "x-mine": 1}
    read = MountPlan.parse(plan).to_dict()
    assert {key: read[key] for key in ("agents", "audit", "x-mine")} == {
        "agents": {"a": {}}, "audit": {"enabled": True}, "x-mine": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ("deny", "approval of a mount plan is a mapping, got 'deny'"),
        ({"mode": "dney"}, "approval.mode: 'ask', 'deny' or 'edits', got 'dney'"),
        ({"mode": None}, "approval.mode: 'ask', 'deny' or 'edits', got None"),
        ({"timeout": "30"}, "approval.timeout: a positive number of seconds, got '30'"),
        ({"via": "web"}, "approval.via: one or several of terminal, store, server, got 'web'"),
        ({"via": ["store", 3]}, "approval.via: one or several of terminal, store, server, got 3"),
        ({"via": []}, "approval.via: one or several of terminal, store, server, got []"),
        ({"via": None}, "approval.via: one or several of terminal, store, server, got None"),
        ({"persons": 0}, "approval.persons: a whole number from 1, got 0"),
        ({"persons": True}, "approval.persons: a whole number from 1, got True"),
        ({"requester_may_approve": "no"}, "approval.requester_may_approve: true or false, got"),
        ({"timeout": True}, "got True"),
        ({"timeout": 0}, "got 0"),
        ({"timeout": float("nan")}, "got nan"),
    ],
)
def test_a_wrong_approval_section_is_refused(section: Any, message: str) -> None:
    """It would silently leave the gate as it is."""
    with pytest.raises((TypeError, ValueError)) as refused:
        check_plan({**MINIMAL, "approval": section})
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("section", "asks"),
    [(None, True), ({}, True), ({"mode": "ask"}, True), ({"mode": "deny"}, False)],
)
def test_a_plan_may_let_nobody_be_asked(section: Any, asks: bool) -> None:
    """Every question is a no then."""
    plan = {**MINIMAL, "approval": section}
    check_plan(plan)
    assert may_ask(plan) is asks


NAMES = st.text(min_size=1, max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
ENTRIES = NAMES | st.fixed_dictionaries(
    {"module": NAMES},
    optional={
        "config": st.dictionaries(NAMES, VALUES, max_size=3),
        "name": NAMES,
        "priority": st.integers(-9, 9),
        "required": st.booleans(),
    },
)
LISTS = st.lists(ENTRIES, max_size=3, unique_by=lambda entry: read_entry("x", entry).module)
PLANS = st.fixed_dictionaries(
    {"session": st.fixed_dictionaries({"orchestrator": ENTRIES, "context": ENTRIES})},
    optional=dict.fromkeys(("providers", "tools", "hooks"), LISTS),
)


@given(PLANS)
def test_reading_the_long_form_changes_nothing(plan: dict[str, Any]) -> None:
    """A plan that was written out reads as the plan that it was written from."""
    parsed = MountPlan.parse(plan)
    assert MountPlan.parse(parsed.to_dict()) == parsed


@given(st.dictionaries(st.sampled_from(["session", "tools", "hooks", "x"]), VALUES))
def test_any_value_is_a_plan_or_a_sentence(plan: dict[str, Any]) -> None:
    """Whatever a hook leaves of a plan, reading it never fails in another way."""
    assert read_or_complain(plan)


def read_or_complain(plan: dict[str, Any]) -> MountPlan | str:
    try:
        return MountPlan.parse(plan)
    except (TypeError, ValueError, ModuleLoadError) as error:
        return str(error)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("injection_size_limit", -1),
        ("injection_size_limit", True),
        ("injection_budget_per_turn", "many"),
        ("injection_budget_per_turn", 1.5),
        ("injection_over_budget", "explode"),
    ],
)
def test_wrong_limits_are_refused(key, value):
    """The message names the setting and what stands there."""
    with pytest.raises(ValueError, match=f"{key} must be .* got {value!r}"):
        InjectionLimits.read({key: value})


def test_the_source_of_a_loop_or_context_may_stand_beside_its_id() -> None:
    """As plans of the ecosystem write it; a source of the entry itself counts first."""
    session = {
        "orchestrator": "loop-x",
        "orchestrator_source": "git+https://x",
        "context": {"module": "context-y", "source": "./y"},
        "context_source": "git+https://y",
    }
    plan = MountPlan.parse({"session": session})
    assert plan.session.orchestrator.source == "git+https://x"
    assert plan.session.context.source == "./y"
    assert MountPlan.parse(MINIMAL).session.context.source is None


@pytest.mark.parametrize(
    "entries",
    [
        ["provider-x", {"module": "provider-x", "instance_id": "second"}],
        [{"module": "provider-x", "instance_id": one} for one in ("a", "b")],
        [{"module": "provider-x", "config": {"name": one}} for one in ("a", "b")],
        [{"module": "provider-x", "name": "a"}, "provider-x"],
        ["provider-x", "provider-y"],
    ],
)
def test_one_provider_may_serve_several_times_under_several_names(entries: Any) -> None:
    """The entry's own name, or the one that its options give it, tells them apart too."""
    assert len(MountPlan.parse({**MINIMAL, "providers": entries}).providers) == 2


@pytest.mark.parametrize(
    ("entry", "which"),
    [
        ({"module": "provider-x"}, "no instance_id"),
        ({"module": "provider-x", "instance_id": "a"}, "the instance_id 'a'"),
    ],
)
def test_two_entries_of_one_provider_need_names(entry: dict[str, Any], which: str) -> None:
    """The second would silently take the place of the first."""
    why = f"Two entries of the module 'provider-x' have {which}"
    with pytest.raises(ValueError, match=why):
        MountPlan.parse({**MINIMAL, "providers": [entry, dict(entry)]})
    assert MountPlan.parse({**MINIMAL, "tools": [entry, dict(entry)]}).tools


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        (None, 8),
        ({}, 8),
        ({"tool_calls_at_once": 3}, 3),
        ({"tool_calls_at_once": None}, sys.maxsize),
    ],
)
def test_how_many_calls_run_at_once(limits: Any, expected: int) -> None:
    """Eight, a number, or as many as there are."""
    assert read_calls_at_once({"session": {"limits": limits}}) == expected
    assert read_calls_at_once({}) == 8


@pytest.mark.parametrize("value", [0, -1, True, 2.0, "8", []])
def test_a_wrong_number_of_calls_is_refused(value: Any) -> None:
    """No calls at all would be a session that hangs."""
    with pytest.raises(ValueError, match=r"session\.limits\.tool_calls_at_once: .* got"):
        read_calls_at_once({"session": {"limits": {"tool_calls_at_once": value}}})


def test_limits_are_a_mapping() -> None:
    with pytest.raises(TypeError, match=r"session\.limits is a mapping, got int"):
        read_calls_at_once({"session": {"limits": 5}})


def test_a_plan_that_is_a_model_is_copied_as_a_dict() -> None:
    """Applications keep theirs as a model; nobody's own dict is handed on."""
    plan: dict[str, Any] = {"session": {}}
    assert copy_plan(plan) == plan
    assert copy_plan(plan) is not plan
    assert copy_plan(ModuleEntry(module="a"))["module"] == "a"
    assert copy_plan(None) == {}


@pytest.mark.parametrize(
    ("section", "ways"),
    [
        (None, ("terminal",)),
        ({}, ("terminal",)),
        ({"via": "server"}, ("server",)),
        ({"via": ["terminal", "store"]}, ("terminal", "store")),
    ],
)
def test_the_ways_to_people_are_a_word_or_a_list_of_them(section: Any, ways: Any) -> None:
    """Without a word about it, people are asked at the terminal."""
    assert list_ways(section) == ways


SESSION = {"orchestrator": "loop-basic", "context": "context-simple"}


@pytest.fixture(autouse=True)
def _forget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan_keys, "_told", set())


@pytest.mark.parametrize(
    ("plan", "problem"),
    [
        ({"hoks": []}, "hoks: unknown key 'hoks'; did you mean 'hooks'?"),
        ({"hook": []}, "hook: unknown key 'hook'; did you mean 'hooks'?"),
        ({"aproval": {}}, "aproval: unknown key 'aproval'; did you mean 'approval'?"),
        ({"sandbx": "off"}, "sandbx: unknown key 'sandbx'; did you mean 'sandbox'?"),
        ({"session": {"max_turn": 1}}, "session.max_turn: unknown key 'max_turn'; did"),
        ({"session": {"limits": {"agent_dept": 1}}}, "session.limits.agent_dept: unknown key"),
        ({"approval": {"timout": 5}}, "approval.timout: unknown key 'timout'; did you"),
    ],
)
def test_a_misspelt_key_is_refused_at_every_level(plan: dict[str, Any], problem: str) -> None:
    """What it was meant to say would silently not hold."""
    whole = {**plan, "session": {**SESSION, **plan.get("session", {})}}
    assert str(find_misspelt(whole)).startswith(problem)
    with pytest.raises(ValueError, match=r"The mount plan: .*did you mean"):
        AmplifierSession(whole)


@pytest.mark.parametrize("key", ["requird", "lockd", "confg", "priorty", "Required"])
def test_a_misspelt_key_of_an_entry_is_refused(key: str) -> None:
    """In whichever list it stands, also in that of an agent."""
    with pytest.raises(ModuleLoadError, match=f"Module 'x': {key}: unknown key .* did you mean"):
        read_entry("hooks", {"module": "x", key: True})


def test_other_keys_are_kept_and_told_once(caplog: pytest.LogCaptureFixture) -> None:
    """Applications of the ecosystem write their own into plans and entries."""
    entry = {"module": "x", "profile": "a"}
    plan = {"session": {**SESSION, "auto_compact": True}, "ui": {}, "x-mine": 1, "tools": [entry]}
    with caplog.at_level(logging.WARNING, logger="amplifier_core"):
        for _ in range(2):
            read = MountPlan.parse(plan).to_dict()
    assert (read["ui"], read["tools"][0]["profile"]) == ({}, "a")
    told = [one.getMessage() for one in caplog.records]
    assert [one.partition(";")[0] for one in told] == [
        "ui: unknown key 'ui'",
        "session.auto_compact: unknown key 'auto_compact'",
        "profile: unknown key 'profile'",
    ]


def test_keys_that_existing_plans_carry_are_known(caplog: pytest.LogCaptureFixture) -> None:
    """Options and sources beside the session, metadata, instances of providers."""
    plan = {
        "session": {**SESSION, "orchestrator_source": None, "metadata": {}, "raw": True},
        "orchestrator": {"config": {}},
        "context": {"config": {}},
        "providers": [{"module": "p", "source": "git+https://host.test/p", "instance_id": "i"}],
        "agents": {"a": {"instruction": "anything", "meta": {}}},
    }
    check_plan(plan)
    MountPlan.parse(plan)
    assert caplog.records == []


def test_what_the_kernel_knows_is_what_a_bundle_may_say() -> None:
    """A key that one of the two learns, the other learns too."""
    anything: dict[str, Any] = {"session": dict.fromkeys(plan_keys.SESSION, ...)}
    anything |= dict.fromkeys(plan_keys.PLAN - {"session", "approval"}, ...)
    anything["session"]["limits"] = dict.fromkeys(plan_keys.LIMITS, ...)
    anything["approval"] = dict.fromkeys(plan_keys.APPROVAL, ...)
    anything["hooks"] = [dict.fromkeys(plan_keys.ENTRY, ...)]
    told = " ".join(str(one) for one in mount_plan_problems(anything))
    assert "must be" in told
    assert "unknown key" not in told
    assert ModuleEntry.model_fields.keys() | {"enabled"} == plan_keys.ENTRY


def test_known_keys_and_ones_own_pass() -> None:
    """Keys that begin with x- are for the author's own use."""
    assert judge_keys({"module": 1, "x-note": 2}, plan_keys.ENTRY) is None


EITHER: TypeAdapter[Any] = TypeAdapter(Annotated[int | bool, Expected("a number or a switch")])


class Unread:
    """Stands for a value that a variable will have."""


def test_the_id_of_a_module_is_not_blank() -> None:
    """Or nobody could find it."""
    assert Module.model_validate({"module": "loop-basic"}).module == "loop-basic"
    with pytest.raises(ValidationError, match="must not be empty"):
        Module.model_validate({"module": " "})


def test_a_value_of_no_expected_type_is_told_what_would_do() -> None:
    """In one sentence, not in one for each type."""
    with pytest.raises(ValidationError, match="must be a number or a switch"):
        EITHER.validate_python("x")
    assert EITHER.validate_python(3) == 3


def test_a_value_that_is_not_known_yet_is_not_refused() -> None:
    """What stands for it is the context of the check."""
    value = Unread()
    assert EITHER.validate_python(value, context=Unread) is value
    with pytest.raises(ValidationError, match="must be a number or a switch"):
        EITHER.validate_python("x", context=Unread)


def test_a_plan_may_limit_how_long_a_question_waits() -> None:
    """In seconds; without a word about it there is no limit of its own."""
    assert read_approval_limit({"approval": {"timeout": 30}}) == 30.0
    assert read_approval_limit({"approval": {}}) is None
    assert read_approval_limit({}) is None
