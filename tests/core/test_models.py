"""The values that modules hand to the kernel and get from it."""

# Wrong values are handed in on purpose.
# mypy: disable-error-code="arg-type, call-arg, list-item, metaclass, misc"

from __future__ import annotations

import ast
import copy
import json
import pickle
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from amplifier_core import models
from amplifier_core import models as hook_result
from amplifier_core.message_models import ImageBlock, TextBlock
from amplifier_core.models import (
    CONTINUE,
    DEFAULT_APPROVAL_OPTIONS,
    ApprovalRequest,
    ApprovalResponse,
    ConfigField,
    ContextInjection,
    HookResult,
    ModelInfo,
    ModuleInfo,
    ModuleType,
    Pricing,
    ProviderInfo,
    SessionStatus,
    ToolResult,
    add_comments,
    continue_with,
    read_changed_result,
    read_tool_result,
    replace_fields,
)
from tests.core.test_event_names import misspell


def test_all_that_is_promised_is_there() -> None:
    """Every name of `__all__` can be imported."""
    assert all(hasattr(models, name) for name in models.__all__)


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


class Moody:
    """A value that cannot be written."""

    def __str__(self) -> str:
        raise RuntimeError("not today")

    __repr__ = __str__


def circle() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


def test_nothing_given_is_a_success_without_output() -> None:
    """The defaults, and all that a dump has."""
    assert ToolResult().model_dump() == {"success": True, "output": None, "error": None}


@pytest.mark.parametrize("error", ["plain", {"message": "no", "code": 5}, {"code": 5}, {}, None])
def test_an_error_stays_what_was_given(error: Any) -> None:
    """Callers read the code, the type or whatever else the tool knew."""
    assert ToolResult(success=False, output="x", error=error).error == error


@pytest.mark.parametrize("error", [5, ["no"], ValueError("no")])
def test_an_error_of_another_kind_is_refused(error: Any) -> None:
    """A sentence or a dict: nobody could read anything else."""
    with pytest.raises(ValidationError):
        ToolResult(success=False, error=error)


@pytest.mark.parametrize(
    ("given_fields", "output"),
    [
        ({"success": False, "error": {"message": "no"}}, "no"),
        ({"success": False, "output": "part", "error": {"message": "no"}}, "part"),
        ({"success": True, "error": {"message": "no"}}, None),
        ({"success": False, "error": {"code": 5}}, None),
        ({"success": False, "error": {"message": ""}}, None),
        ({"success": False, "error": "no"}, None),
    ],
)
def test_the_message_of_an_error_is_the_output_of_a_tool_without_one(
    given_fields: dict[str, Any], output: str | None
) -> None:
    """Only of one that failed, and only a message that is there."""
    assert ToolResult(**given_fields).output == output
    assert ToolResult.model_validate(given_fields).output == output


def test_a_wrong_success_is_refused_before_the_error_is_read() -> None:
    """An error beside another wrong value is no exception of its own."""
    with pytest.raises(ValidationError, match="success"):
        ToolResult(success="perhaps", error={"message": "no"})  # type: ignore[arg-type]


def test_a_refusal_knows_that_it_is_one() -> None:
    """By a field: a tool may use the same words."""
    refused = ToolResult.refused("Operation denied by guard: no")
    assert (refused.success, refused.denied) == (False, True)
    assert refused.error == refused.get_serialized_output() == "Operation denied by guard: no"
    assert refused.model_dump()["denied"] is True
    assert ToolResult.model_validate(refused.model_dump()) == refused
    failed = ToolResult.failed("Operation denied by guard: no")
    assert (failed.success, failed.denied) == (False, False)
    assert failed.get_serialized_output() == "Operation denied by guard: no"


def test_content_is_kept_in_blocks_and_left_out_when_empty() -> None:
    """Pictures go beside the text."""
    blocks: list[TextBlock | ImageBlock] = [TextBlock(text="a"), ImageBlock(source={"url": "u"})]
    assert ToolResult(content=blocks).content == blocks
    read = ToolResult.model_validate(ToolResult(content=blocks).model_dump())
    assert read.content == blocks
    assert "content" not in ToolResult(content=[]).model_dump()
    assert "content" not in ToolResult().model_dump_json()


@pytest.mark.parametrize(
    ("result", "shown"),
    [
        (ToolResult(), "Success"),
        (ToolResult(output="done"), "done"),
        (ToolResult(output=""), "Success"),
        (ToolResult(output=0), "0"),
        (ToolResult(output={"a": 1}), "{'a': 1}"),
        (ToolResult(success=False), "Failed"),
        (ToolResult(success=False, error={}), "Failed"),
        (ToolResult(success=False, error={"message": "no", "code": 5}), "Error: no"),
        (ToolResult(success=False, error={"message": 5}), "Error: 5"),
        (ToolResult(success=False, error="no"), "Error: no"),
        (ToolResult.failed("no"), "Error: no"),
    ],
)
def test_as_text_it_says_how_it_went(result: ToolResult, shown: str) -> None:
    """For logs and for people."""
    assert str(result) == shown


@pytest.mark.parametrize(
    ("result", "written"),
    [
        (ToolResult(), "Success"),
        (ToolResult(output="text"), "text"),
        (ToolResult(output=""), ""),
        (ToolResult(output={"ü": [1, None]}), '{"ü": [1, null]}'),
        (ToolResult(output=[Decimal("0.10")]), '["0.10"]'),
        (ToolResult(output={"when": Moody}), '{"when": "' + str(Moody) + '"}'),
        (ToolResult(output=True), "True"),
        (ToolResult(output=Decimal("0.10")), "0.10"),
        (ToolResult(output=(1, 2)), "(1, 2)"),
        (ToolResult(output=circle()), "[[...]]"),
        (ToolResult(success=False), "Error: the tool failed without saying why"),
        (ToolResult(success=False, error="no"), "Error: no"),
        (ToolResult(success=False, error={"code": 5}), "Error: {'code': 5}"),
        (ToolResult(success=False, error={"message": "no"}), "no"),
        (ToolResult(success=False, output="part", error="no"), "part"),
    ],
)
def test_the_agent_reads_the_output_or_what_happened(result: ToolResult, written: str) -> None:
    """JSON where there is structure, words elsewhere."""
    assert result.get_serialized_output() == written


@pytest.mark.parametrize(("output", "kind"), [(Moody(), "Moody"), ({"a": Moody()}, "dict")])
def test_what_cannot_be_written_is_described(output: Any, kind: str) -> None:
    """A class that raises costs its text only."""
    written = ToolResult(output=output).get_serialized_output()
    assert written == f"<{kind} whose repr raised RuntimeError>"


@pytest.mark.parametrize(
    ("output", "written"),
    [
        ("a\tb\nc\rd", "a\tb\nc\rd"),
        ("a\x00b\x07c\x1b[31md\x7fe", "abc[31mde"),
        ("\u00a0\u0085x\x9b", "\u00a0x"),
        ("\ud800a\udcffé😀", "aé😀"),
        ({"a": "\x00é"}, '{"a": "\\u0000é"}'),
    ],
)
def test_what_no_model_takes_is_left_out(output: Any, written: str) -> None:
    """Raw control characters and halves of characters; what JSON escapes is not raw."""
    assert ToolResult(output=output).get_serialized_output() == written


@given(st.text())
def test_every_text_can_be_sent(text: str) -> None:
    """What is left is the text in its order, and can be encoded."""
    written = ToolResult(output=text).get_serialized_output()
    assert written.encode("utf-8").decode("utf-8") == written
    assert written == "".join(one for one in text if one in written)


def test_what_a_tool_or_a_hook_hands_back_is_read() -> None:
    """A dict with the fields of a result is one; anything else is the output."""
    given = ToolResult(output="x")
    assert read_tool_result(given) is given
    assert read_tool_result({"success": False, "error": "no"}).error == "no"
    assert read_tool_result({"success": True, "more": 1}).output == {"success": True, "more": 1}
    assert read_tool_result("text").output == "text"


def test_what_hooks_left_is_read_or_refused():
    """A result that cannot be one is a failure that says so."""
    assert read_changed_result({"success": True, "output": "new"}).output == "new"
    refused = read_changed_result({"success": "perhaps"})
    assert not refused.success
    assert str(refused.error).startswith("A hook left no usable result: ValidationError")


def test_what_a_person_said_stands_before_the_result():
    """Everything that was said, and the result itself is left alone."""
    result = ToolResult(output="done")
    found = add_comments(result, ("use b", "be quick"))
    assert found.output == "The user allowed this and said: use b; be quick\n\ndone"
    assert result.output == "done"


@pytest.mark.parametrize(
    "text", ["plain", "two\nlines", "bell\x07", "caf\u00e9", "\ud800", "\x85", ""]
)
def test_only_what_models_do_not_take_is_dropped(text):
    """Whichever way the text goes."""
    kept = [c for c in text if c in "\t\n\r" or not (ord(c) < 32 or 0x7F <= ord(c) <= 0x9F)]
    wanted = "".join(kept).encode("utf-8", "ignore").decode()
    assert ToolResult(output=text).get_serialized_output() == wanted


def test_a_question_and_its_answer_keep_what_they_know() -> None:
    """Fields of newer versions are passed over."""
    asked = {"tool_name": "Bash", "action": "run", "risk_level": "high", "newer": 1}
    request = ApprovalRequest.model_validate(asked)
    assert (request.details, request.timeout) == ({}, None)
    response = ApprovalResponse.model_validate({"approved": False, "newer": 1})
    assert (response.reason, response.remember) == (None, False)


@pytest.mark.parametrize("level", ["low", "critical", "who knows", ""])
def test_the_risk_is_whatever_the_hook_calls_it(level: str) -> None:
    """Modules have scales of their own."""
    request = ApprovalRequest(tool_name="Bash", action="run", risk_level=level)
    assert request.risk_level == level


@pytest.mark.parametrize("given", [{}, {"risk_level": None}, {"risk_level": 3}])
def test_the_risk_has_to_be_named(given: dict[str, Any]) -> None:
    """Whoever asks has to say how bad it would be."""
    with pytest.raises(ValidationError, match="risk_level"):
        ApprovalRequest(tool_name="Bash", action="run", **given)


@pytest.mark.parametrize("timeout", [0, -1, 0.0, float("nan")])
def test_a_question_without_time_is_refused(timeout: float) -> None:
    """Nobody can answer it."""
    with pytest.raises(ValueError, match="greater than 0"):
        ApprovalRequest(tool_name="Bash", action="run", risk_level="low", timeout=timeout)


FACTS: dict[str, Any] = {
    "id": "hooks-x",
    "name": "X",
    "version": "1.0",
    "type": "hook",
    "mount_point": "hooks",
    "description": "Watches.",
}


@pytest.mark.parametrize("kind", get_args(ModuleType))
def test_a_module_is_of_one_of_six_kinds(kind: str) -> None:
    """The kinds that can be mounted."""
    assert ModuleInfo(**{**FACTS, "type": kind}).config_schema is None


@pytest.mark.parametrize("wrong", [{"type": "agent"}, {"mount_point": None}, {"version": 1}])
def test_anything_else_is_refused(wrong: dict[str, Any]) -> None:
    """Whoever lists modules can rely on every line."""
    with pytest.raises(ValidationError):
        ModuleInfo(**{**FACTS, **wrong})


@pytest.mark.parametrize("name", FACTS)
def test_every_fact_but_the_schema_is_needed(name: str) -> None:
    """A module without one of them cannot be chosen."""
    with pytest.raises(ValidationError, match=name):
        ModuleInfo(**{key: value for key, value in FACTS.items() if key != name})


def test_a_provider_needs_a_name_only() -> None:
    """Each has lists of its own, so that one may add to them."""
    one, other = (ProviderInfo(id="p", display_name="P") for _ in range(2))
    one.capabilities.append("tools")
    one.defaults["model"] = "m"
    assert other.model_dump() == {
        "id": "p",
        "display_name": "P",
        "credential_env_vars": [],
        "capabilities": [],
        "defaults": {},
        "config_fields": [],
    }


def test_a_model_has_limits() -> None:
    """Contexts make room by them."""
    model = ModelInfo(id="m", display_name="M", context_window=8000, max_output_tokens=1000)
    assert (model.capabilities, model.defaults, model.pricing) == ([], {}, None)
    with pytest.raises(ValidationError, match="max_output_tokens"):
        ModelInfo(id="m", display_name="M", context_window=8000)  # type: ignore[call-arg]


def test_a_price_is_in_dollars_unless_it_says_otherwise() -> None:
    """By the million tokens, as every price list has it."""
    price = Pricing(input_per_million=3, output_per_million=15)
    assert price.model_dump() == {
        "input_per_million": 3.0,
        "output_per_million": 15.0,
        "cache_read_per_million": None,
        "cache_write_per_million": None,
        "currency": "USD",
    }


@pytest.mark.parametrize("currency", ["usd", "US", "USDT", "U$D", "EUR\n", ""])
def test_a_currency_has_three_capitals(currency: str) -> None:
    """The codes of the standard."""
    with pytest.raises(ValidationError, match="currency"):
        Pricing(input_per_million=1, output_per_million=1, currency=currency)


@pytest.mark.parametrize("kind", ["text", "secret", "choice", "boolean"])
def test_a_setting_is_of_one_of_four_kinds(kind: Any) -> None:
    """What a person is asked for when the provider is set up."""
    field = ConfigField(id="f", display_name="F", field_type=kind, prompt="?")
    assert (field.required, field.requires_model, field.choices) == (True, False, None)


def test_another_kind_is_refused() -> None:
    """An app would not know what to show."""
    with pytest.raises(ValidationError, match="field_type"):
        ConfigField(id="f", display_name="F", field_type="slider", prompt="?")  # type: ignore[arg-type]


def test_a_session_begins_now_with_nothing_done() -> None:
    """The time has a zone."""
    before = datetime.now(UTC)
    status = SessionStatus(session_id="s")
    assert before <= status.started_at <= datetime.now(UTC)
    assert status.status == "running"
    figures = {name: value for name, value in status.to_dict().items() if value == 0}
    assert len(figures) == 6


def test_as_a_dict_it_has_what_is_known_and_is_ready_for_json() -> None:
    """What is None is not known."""
    status = SessionStatus(
        session_id="s",
        ended_at=datetime(2026, 1, 2, tzinfo=UTC),
        status="failed",
        cost_usd=Decimal("0.10"),
        last_error={"type": "LLMError"},
    )
    written = json.loads(json.dumps(status.to_dict()))
    assert (written["status"], written["cost_usd"]) == ("failed", "0.10")
    assert written["ended_at"].startswith("2026-01-02")
    assert written["last_error"] == {"type": "LLMError"}
    assert "last_activity" not in written
    assert "cost_usd" not in SessionStatus(session_id="s").to_dict()


def test_a_session_has_one_of_four_states() -> None:
    """Reports can rely on them."""
    with pytest.raises(ValidationError, match="status"):
        SessionStatus(session_id="s", status="asleep")  # type: ignore[arg-type]
