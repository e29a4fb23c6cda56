"""What hooks answer with: fields, defaults, and what is refused."""

# Wrong values are handed in on purpose.
# mypy: disable-error-code="arg-type, call-arg, list-item, metaclass, misc"

from __future__ import annotations

import ast
import copy
import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from amplifier_core import models as hook_result
from amplifier_core.models import (
    CONTINUE,
    DEFAULT_APPROVAL_OPTIONS,
    ContextInjection,
    HookResult,
    continue_with,
    replace_fields,
)
from tests.core.events.test_names import misspell


@pytest.fixture(autouse=True)
def _forget_warnings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hook_result, "_warned_of", set())


def test_the_fields_and_defaults() -> None:
    """In the order in which they are documented."""
    result = HookResult()
    assert list(HookResult.model_fields) == [
        "action", "data", "reason", "context_injection", "context_injection_role", "ephemeral",
        "append_to_last_tool_result", "approval_prompt", "approval_options", "approval_timeout",
        "approval_default", "suppress_output", "user_message", "user_message_level",
        "user_message_source", "context_injections",
    ]  # fmt: skip
    assert (result.action, result.context_injection_role) == ("continue", "system")
    assert (result.approval_timeout, result.approval_default) == (300.0, "deny")
    assert result.approval_options is None
    assert DEFAULT_APPROVAL_OPTIONS == ("Allow", "Deny")


@pytest.mark.parametrize(
    "wrong",
    [{"action": "shout"}, {"context_injection_role": "tool"}, {"approval_default": "maybe"},
     {"user_message_level": "loud"}, {"data": [1]}, {"approval_timeout": "soon"}],
)  # fmt: skip
def test_wrong_values_do_not_construct(wrong: dict[str, Any]) -> None:
    """A typing error is found where it is made."""
    with pytest.raises(ValidationError):
        HookResult(**wrong)


def test_what_the_kernel_fills_is_what_validation_makes() -> None:
    """Whoever compares, copies or writes a result cannot tell which way it was made."""
    made, validated = continue_with({"a": 1}), HookResult.model_validate({"data": {"a": 1}})
    assert made == validated
    assert made.model_dump() == validated.model_dump()
    assert made.model_copy(update={"reason": "x"}).reason == "x"
    assert replace_fields(made, reason="x").model_fields_set >= {"action", "data", "reason"}
    said = HookResult(action="modify", data={}, reason="r", context_injections=[{"content": "x"}])
    left = replace_fields(said, action="continue", data={"a": 1}, context_injections=[])
    fields = {"data": {"a": 1}, "reason": "r", "context_injections": []}
    assert left == HookResult.model_validate({"action": "continue", **fields})
    assert left.model_fields_set == {"action", *fields}
    assert (said.data, len(said.context_injections)) == ({}, 1)


def test_a_result_holds_its_own_data() -> None:
    """What the hook does to its dict later does not change what it answered."""
    data = {"a": [1]}
    result = HookResult(action="modify", data=data)
    data["b"] = []
    assert result.data == {"a": [1]}
    assert result.data["a"] is data["a"]
    assert pickle.loads(pickle.dumps(result)) == copy.deepcopy(result) == result
    assert result.context_injections is not HookResult(action="modify").context_injections


def test_a_result_is_frozen() -> None:
    """Whoever has one may rely on it."""
    with pytest.raises(ValidationError, match="frozen"):
        HookResult().action = "deny"


@pytest.mark.parametrize(
    ("result", "silent"),
    [
        (HookResult(), True),
        (HookResult(action="continue"), True),
        (HookResult.model_validate({}), True),
        (CONTINUE, True),
        (HookResult(user_message="hello"), False),
        (HookResult(data={}), False),
        (HookResult(action="deny"), False),
        (HookResult.model_construct(action="deny"), False),
        (HookResult().model_copy(update={"action": "deny"}), False),
        (HookResult().model_copy(update={"user_message": "hello"}), False),
    ],
)
def test_a_plain_continue_says_nothing(result: HookResult, silent: bool) -> None:
    """However it was made."""
    assert result.is_silent is silent


def test_a_subclass_has_fields_of_its_own() -> None:
    """A module may add some."""

    class Mine(HookResult):
        more: int = 1

    assert Mine().more == 1
    assert Mine(more=2, reason="x").more == 2


# Several injections in one answer


@pytest.mark.parametrize("made", [HookResult(), HookResult(reason="x"), continue_with({})])
def test_without_injections_the_list_is_empty(made: HookResult) -> None:
    """Never None, so that nobody has to ask before going through it."""
    assert made.context_injections == []


def test_none_reads_as_no_injections() -> None:
    """Authors write it to mean that there are none."""
    assert HookResult(reason="x", context_injections=None).context_injections == []


def test_no_two_results_share_a_list_of_injections() -> None:
    """Somebody may add to the one that is theirs."""
    one, other = continue_with({}), continue_with({})
    one.context_injections.append(ContextInjection(content="x"))
    assert other.context_injections == HookResult(reason="x").context_injections == []


def test_an_injection_has_a_source_only_if_it_is_told() -> None:
    """The kernel fills in the hook and the event where they are known."""
    (one,) = HookResult(context_injections=[{"content": "x"}]).context_injections
    assert (one.role, one.ephemeral, one.append_to_last_tool_result) == ("system", False, False)
    assert (one.hook_name, one.event) == ("unknown", "")


# Fields that there are not


@pytest.mark.parametrize(
    ("name", "meant"),
    [("actoin", "action"), ("resaon", "reason"), ("Ephemeral", "ephemeral"), ("datas", "data"),
     ("user_mesage", "user_message"), ("approval_timout", "approval_timeout")],
)  # fmt: skip
def test_a_misspelled_field_is_refused_by_name(name: str, meant: str) -> None:
    """A slip must not turn a deny into silence."""
    with pytest.raises(ValidationError, match=f"no field '{name}'; did you mean '{meant}'?"):
        HookResult(action="deny", **{name: "x"})


def test_a_field_of_a_newer_version_is_ignored_with_one_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Modules written for it run; the log says once what has no effect."""
    for _ in range(3):
        result = HookResult(action="deny", severity=5, user_message_format="markdown")
        assert result.action == "deny"
    assert sorted(caplog.messages) == [
        "HookResult has no field 'severity'; it is ignored",
        "HookResult has no field 'user_message_format'; it is ignored",
    ]
    assert not hasattr(result, "severity")


def test_what_is_called_wrongly_is_refused() -> None:
    """Results are made by keyword."""
    with pytest.raises(TypeError):
        HookResult("deny")


# What type checkers see


def test_checkers_know_the_fields_that_there_are() -> None:
    """They read a constructor of their own, which must not fall behind the model."""
    tree = ast.parse(Path(hook_result.__file__).read_text(encoding="utf-8"))
    (shown,) = [
        node.args
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name == "__init__"
    ]
    named = [argument.arg for argument in shown.kwonlyargs]
    given = [ast.literal_eval(default) for default in shown.kw_defaults if default is not None]
    assert named == list(HookResult.model_fields)
    held = HookResult.model_validate(dict(zip(named, given, strict=True)))
    assert held == HookResult.model_validate({})


@pytest.mark.parametrize("field", list(HookResult.model_fields))
def test_every_slip_in_every_field_is_refused(field: str) -> None:
    """Swapped, dropped, doubled, replaced: at each letter; the message names a right one."""
    for wrong in set(misspell(field)) - HookResult.model_fields.keys():
        with pytest.raises(ValidationError, match="did you mean"):
            HookResult(**{wrong: "deny"})


class Own(HookResult):
    """A result with a field more, as a module may have."""

    ticket: str = ""


@pytest.mark.parametrize(
    "build",
    [
        lambda fields: HookResult.model_validate(fields),
        lambda fields: HookResult.model_validate_json(json.dumps(fields)),
        lambda fields: HookResult().model_copy(update=fields),
        lambda fields: Own(**fields),
        lambda fields: Own.model_validate(fields),
    ],
)
def test_a_slip_is_refused_however_the_result_is_built(build: Any, caplog: Any) -> None:
    """A field of a newer version is passed over there as well."""
    with pytest.raises(ValidationError, match="no field 'actoin'; did you mean 'action'"):
        build({"actoin": "deny"})
    assert build({"action": "deny"}).action == "deny"
    assert build({"action": "deny", "colour_of_the_answer": 1}).action == "deny"
    assert "HookResult has no field 'colour_of_the_answer'; it is ignored" in caplog.text


def test_fields_of_a_subclass_are_its_own() -> None:
    """Known to it, with their slips; names that are no text are left to pydantic."""
    assert Own(ticket="T-1").ticket == "T-1"
    with pytest.raises(ValidationError, match="did you mean 'ticket'"):
        Own(tickt="T-1")  # type: ignore[call-arg]
    assert HookResult.model_validate({"action": "deny", 5: 1}).action == "deny"
    assert HookResult.model_validate(HookResult(reason="x")).reason == "x"
    with pytest.raises(ValidationError):
        HookResult.model_validate(["deny"])
