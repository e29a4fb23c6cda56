"""What hooks answer with: fields, defaults, and what is refused."""

# Wrong values are handed in on purpose.
# mypy: disable-error-code="arg-type, call-arg, list-item, metaclass, misc"

from __future__ import annotations

import ast
import copy
import json
import pickle
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from amplifier_core.models import (
    CONTINUE,
    DEFAULT_APPROVAL_OPTIONS,
    ContextInjection,
    HookResult,
    continue_with,
    hook_result,
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
    assert replace_fields(made, reason="x").model_fields_set == {"action", "data", "reason"}
    said = HookResult(action="modify", data={}, reason="r", context_injections=[{"content": "x"}])
    left = replace_fields(said, action="continue", data={"a": 1}, context_injections=[])
    fields = {"data": {"a": 1}, "reason": "r", "context_injections": []}
    assert left == HookResult.model_validate({"action": "continue", **fields})
    assert left.model_fields_set == {"action", *fields}
    assert (said.data, len(said.context_injections)) == ({}, 1)


class Text(str):
    """A string that validation turns into a plain one."""

    __slots__ = ()


class Fields(dict[str, Any]):
    """A dict that validation turns into a plain one."""


ODD: list[Any] = [
    None, "", "x", "\ud800", "deny", "user", "warning", "allow", Text("deny"), Text("x"), b"x",
    0, 1, 2.5, 300, "300", float("nan"), True, False, [], ["a"], ("a",), [1], {}, {"a": [1]},
    {"\ud800": 1}, {Text("a"): 1}, {1: 1}, {b"a": 1}, {None: 1}, Fields(a=1),
    ContextInjection(content="x"),
    [ContextInjection(content="x")], [{"content": "x"}], [{"content": 1}], object,
]  # fmt: skip


def _tell(build: Any) -> Any:
    """All that can be told of a result, or of the refusal to build it."""
    try:
        made = build()
    except ValidationError as error:
        return error.errors(include_url=False)
    values = [(name, repr(value), type(value)) for name, value in made.__dict__.items()]
    keys = list(map(type, made.data or ()))
    return values, keys, made.model_fields_set, repr(made)


@pytest.mark.parametrize("field", HookResult.model_fields)
def test_what_is_built_without_validation_is_what_validation_makes(field: str) -> None:
    """Also the order of the fields, the exact types and every refusal."""
    for value in ODD:
        given: dict[str, Any] = {"action": "deny", "reason": "r", field: value}
        validated = partial(HookResult.__pydantic_validator__.validate_python, given)
        told, expected = _tell(partial(HookResult, **given)), _tell(validated)
        assert told == expected, (field, value)


class Anything(str):
    """A word that says it is any other."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return True


@pytest.mark.parametrize("action", ["modify", "continue", Text("modify"), Anything("x"), 1, None])
def test_the_usual_change_is_what_validation_makes(action: Any) -> None:
    """It has a way of its own, which only what is exactly that may take."""
    for value in ODD:
        given: dict[str, Any] = {"action": action, "data": value}
        validated = partial(HookResult.__pydantic_validator__.validate_python, given)
        assert _tell(partial(HookResult, **given)) == _tell(validated), value


@pytest.mark.parametrize(
    "make", [lambda: continue_with({"a": 1}), lambda: HookResult(action="modify", data={"a": 1})]
)
def test_which_fields_were_given_is_told_whoever_asks_first(make: Any) -> None:
    """Each result has its own set, although it is made when it is asked for."""
    action, given = make().action, {"action", "data"}
    validated = HookResult.model_validate({"action": action, "data": {"a": 1}})
    assert make().model_fields_set == given
    assert make().model_dump(exclude_unset=True) == validated.model_dump(exclude_unset=True)
    told = validated.model_dump_json(exclude_unset=True)
    assert make().model_dump_json(exclude_unset=True) == told
    assert make().model_copy(update={"reason": "r"}).model_fields_set == {*given, "reason"}
    for copied in (pickle.loads(pickle.dumps(make())), copy.copy(make()), copy.deepcopy(make())):
        assert copied == validated == make()
        assert copied.model_fields_set == given
    one, other = make(), make()
    one.model_fields_set.add("reason")
    assert one.model_fields_set == {*given, "reason"}
    assert other.model_fields_set == given
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = one.nothing


def test_a_result_holds_its_own_data() -> None:
    """What the hook does to its dict later does not change what it answered."""
    data = {"a": [1]}
    result = HookResult(action="modify", data=data)
    data["b"] = []
    assert result.data == {"a": [1]}
    assert result.data["a"] is data["a"]
    assert pickle.loads(pickle.dumps(result)) == copy.deepcopy(result) == result
    assert result.context_injections is not HookResult(action="modify").context_injections


def test_the_usual_answer_is_one_object() -> None:
    """Results are frozen, so all hooks that have nothing to say can share one."""
    assert HookResult(action="continue") is HookResult() is CONTINUE
    assert HookResult() == HookResult.model_validate({"action": "continue"})
    with pytest.raises(ValidationError, match="frozen"):
        HookResult().action = "deny"


def test_a_subclass_is_not_interned() -> None:
    """It has fields of its own."""

    class Mine(HookResult):
        more: int = 1

    assert Mine().more == 1
    assert Mine(action="continue") is not Mine(action="continue")
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


def test_nobody_adds_to_the_result_that_all_hooks_share() -> None:
    """Or the next hook that says continue would carry it too."""
    for add in (
        lambda found: found.append("x"),
        lambda found: found.extend(["x"]),
        lambda found: found.insert(0, "x"),
        lambda found: found.__iadd__(["x"]),
    ):
        with pytest.raises(TypeError, match="frozen; pass context_injections"):
            add(HookResult().context_injections)
    assert HookResult().context_injections == []
    assert copy.deepcopy(HookResult()) == HookResult() == pickle.loads(pickle.dumps(HookResult()))


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
