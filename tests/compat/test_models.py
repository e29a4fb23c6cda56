"""The models that existing modules build, read and subclass: fields, defaults, dumps and texts."""

# Fields are left out and wrong values handed in on purpose.
# mypy: disable-error-code="arg-type, call-arg, list-item, misc, union-attr"

from __future__ import annotations

import json
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from amplifier_core import capabilities, content_models, message_models, models
from amplifier_core.content_models import ContentBlock, ContentBlockType
from amplifier_core.message_models import ChatRequest, ChatResponse, Message, TextBlock, Usage
from amplifier_core.models import SessionStatus, ToolResult

REQUIRED = object()
NONE_BUT_LATER: dict[str, Any] = dict.fromkeys(
    ("temperature", "top_p", "max_output_tokens", "conversation_id")
)
FIELDS: dict[str, dict[str, Any]] = {
    "TextBlock": {"type": "text", "text": REQUIRED},
    "ThinkingBlock": {
        "type": "thinking", "thinking": REQUIRED, "signature": None, "content": None,
    },
    "RedactedThinkingBlock": {"type": "redacted_thinking", "data": REQUIRED},
    "ToolCallBlock": {"type": "tool_call", "id": REQUIRED, "name": REQUIRED, "input": REQUIRED},
    "ToolResultBlock": {"type": "tool_result", "tool_call_id": REQUIRED, "output": REQUIRED},
    "ImageBlock": {"type": "image", "source": REQUIRED},
    "ReasoningBlock": {"type": "reasoning", "content": REQUIRED, "summary": REQUIRED},
    "Message": {
        "role": REQUIRED, "content": REQUIRED, "name": None, "tool_call_id": None, "metadata": None,
    },
    "ToolSpec": {"name": REQUIRED, "parameters": REQUIRED, "description": None},
    "ToolCall": {"id": REQUIRED, "name": REQUIRED, "arguments": REQUIRED},
    "Usage": {
        "input_tokens": REQUIRED, "output_tokens": REQUIRED, "total_tokens": REQUIRED,
        "reasoning_tokens": None, "cache_read_tokens": None, "cache_write_tokens": None,
        "cost_usd": None,
    },
    "ChatRequest": {
        "messages": REQUIRED, "tools": None, "response_format": None, **NONE_BUT_LATER,
        "stream": False, "metadata": None, "model": None, "tool_choice": None, "stop": None,
        "reasoning_effort": None, "timeout": None,
    },
    "ChatResponse": {
        "content": REQUIRED, "tool_calls": None, "usage": None, "degradation": None,
        "finish_reason": None, "metadata": None,
    },
    "Degradation": {"requested": REQUIRED, "actual": REQUIRED, "reason": REQUIRED},
    "ResponseFormatText": {"type": "text"},
    "ResponseFormatJson": {"type": "json"},
    "ResponseFormatJsonSchema": {"type": "json_schema", "json_schema": REQUIRED, "strict": None},
}  # fmt: skip
VALUES: dict[str, Any] = {
    "text": "t", "thinking": "t", "data": "d", "id": "1", "name": "n", "input": {},
    "tool_call_id": "1", "output": None, "source": {}, "summary": [], "role": "user",
    "parameters": {}, "arguments": {}, "input_tokens": 1, "output_tokens": 2, "total_tokens": 3,
    "messages": [], "content": [], "requested": "a", "actual": "b", "reason": "c",
    "json_schema": {},
}  # fmt: skip
BLOCKS = [name for name in FIELDS if name.endswith("Block")]


def build(name: str, **more: Any) -> Any:
    required = [field for field, default in FIELDS[name].items() if default is REQUIRED]
    return getattr(message_models, name)(**{one: VALUES[one] for one in required}, **more)


# Messages


@pytest.mark.parametrize("name", FIELDS)
def test_a_model_has_these_fields_and_defaults(name: str) -> None:
    """And no others, so that dumps are what everybody knows."""
    kind = getattr(message_models, name)
    expected = {*FIELDS[name], *(["visibility"] if name in BLOCKS else [])}
    assert set(kind.model_fields) == set(build(name).model_dump()) == expected
    for field, default in FIELDS[name].items():
        if default is not REQUIRED:
            assert getattr(build(name), field) == default


@pytest.mark.parametrize(
    ("name", "field"),
    [(name, one) for name, fields in FIELDS.items() for one in fields if fields[one] is REQUIRED],
)
def test_what_has_no_default_is_required(name: str, field: str) -> None:
    given = build(name).model_dump()
    del given[field]
    with pytest.raises(ValidationError, match="schema" if field == "json_schema" else field):
        getattr(message_models, name)(**given)


@pytest.mark.parametrize("name", FIELDS)
def test_unknown_fields_are_kept(name: str) -> None:
    """As attributes and in dumps."""
    whole = build(name, newer={"a": 1})
    assert whole.newer == whole.model_dump()["newer"] == {"a": 1}


@pytest.mark.parametrize("name", BLOCKS)
@pytest.mark.parametrize("visibility", ["internal", "developer", "user", None])
def test_a_block_is_chosen_by_its_type_and_has_a_visibility(name: str, visibility: Any) -> None:
    block = build(name, visibility=visibility)
    read = Message(role="assistant", content=[block.model_dump()]).content[0]
    assert (type(read).__name__, read) == (name, block)


def test_other_types_and_visibilities_are_refused() -> None:
    with pytest.raises(ValidationError, match="type"):
        Message(role="user", content=[{"type": "video"}])
    with pytest.raises(ValidationError, match="visibility"):
        build("TextBlock", visibility="secret")


@pytest.mark.parametrize("role", ["system", "developer", "user", "assistant", "function", "tool"])
def test_a_message_has_one_of_six_roles(role: Any) -> None:
    assert Message(role=role, content="x").role == role
    assert Message(role=role, content=[TextBlock(text="x")]).content[0].text == "x"


@pytest.mark.parametrize("role", ["robot", "", None])
def test_another_role_is_refused(role: Any) -> None:
    with pytest.raises(ValidationError, match="role"):
        Message(role=role, content="x")


@pytest.mark.parametrize(
    "calls",
    [
        [{"id": "1", "tool": "Bash", "arguments": {"command": "ls"}}],
        [{"id": "1", "name": "Bash", "arguments": {}}],
        [{"id": "1", "type": "function", "function": {"name": "Bash", "arguments": "{}"}}],
        [{"whatever": 5}],
        [],
    ],
)
def test_a_message_takes_any_list_of_calls(calls: list[dict[str, Any]]) -> None:
    """Loops write `tool` where ours write `name`; the second request of a turn must not die."""
    message = Message(role="assistant", content="", tool_calls=calls)
    assert message.tool_calls == message.model_dump()["tool_calls"] == calls  # type: ignore[attr-defined]


def test_a_request_takes_its_parts_as_dicts() -> None:
    """Loops hand over what their contexts hold."""
    request = ChatRequest(
        messages=[{"role": "user", "content": "x"}],
        tools=[{"name": "t", "parameters": {}}],
        response_format={"type": "json_schema", "json_schema": {"type": "object"}},
        tool_choice={"type": "tool", "name": "t"},
        stop=["END"],
        reasoning_effort="high",
        timeout=5,
    )
    assert isinstance(request.messages[0], Message)
    assert (request.tool_choice, request.stop) == ({"type": "tool", "name": "t"}, ["END"])
    assert (request.reasoning_effort, request.timeout) == ("high", 5.0)
    assert isinstance(request.response_format, message_models.ResponseFormatJsonSchema)
    assert ChatRequest(messages=[], tool_choice="auto").tool_choice == "auto"


def test_a_schema_is_dumped_by_its_alias() -> None:
    form = message_models.ResponseFormatJsonSchema(json_schema={"a": 1})
    assert form.model_dump(by_alias=True)["schema"] == {"a": 1}
    assert form.model_dump()["json_schema"] == {"a": 1}


def test_a_provider_subclasses_the_reply_with_fields_of_its_own() -> None:
    """Also with names for which our replies have an attribute."""

    class Mine(ChatResponse):
        text: str | None = None
        model: str | None = None
        blocks: list[Any] | None = None

    reply = Mine(content=[TextBlock(text="long")], text="short", blocks=[1])
    assert (reply.text, reply.model, reply.blocks) == ("short", None, [1])


# Costs


def usage(**more: Any) -> BaseModel:
    return Usage(input_tokens=1, output_tokens=2, total_tokens=3, **more)


def status(**more: Any) -> BaseModel:
    return SessionStatus(session_id="s", **more)


@pytest.mark.parametrize("build_one", [usage, status])
class TestCosts:
    def test_a_float_is_refused(self, build_one: Any) -> None:
        with pytest.raises(ValidationError, match="must be Decimal"):
            build_one(cost_usd=0.5)

    @pytest.mark.parametrize("cost", [Decimal("0.50"), "0.50", 3])
    def test_others_are_decimals_inside_and_strings_in_every_dump(
        self, build_one: Any, cost: Any
    ) -> None:
        one = build_one(cost_usd=cost)
        assert type(one.cost_usd) is Decimal
        dumps = (one.model_dump(), one.model_dump(mode="json"), json.loads(one.model_dump_json()))
        assert {dump["cost_usd"] for dump in dumps} == {str(cost)}

    def test_none_stays_none_and_is_not_zero(self, build_one: Any) -> None:
        assert build_one().model_dump()["cost_usd"] is None
        assert build_one(cost_usd=0).model_dump()["cost_usd"] == "0"


# Results of tools


def test_a_result_has_these_defaults() -> None:
    assert (ToolResult().success, ToolResult().output, ToolResult().error) == (True, None, None)
    assert ToolResult().model_dump() == {"success": True, "output": None, "error": None}


@pytest.mark.parametrize(
    "error",
    [{"message": "m", "code": "E", "type": "T", "errno": 2, "available": ["a"]}, {"x": 1}, "text"],
)
def test_an_error_is_kept_as_it_was_given(error: Any) -> None:
    """All existing tools pass a dict, and callers read what is in it."""
    result = ToolResult(success=False, error=error)
    assert result.error == error
    assert ToolResult.model_validate(result.model_dump()).error == error


def test_the_message_of_a_dict_becomes_the_output_of_a_failure_without_one() -> None:
    assert ToolResult(success=False, error={"message": "m"}).output == "m"
    assert ToolResult(success=False, output="o", error={"message": "m"}).output == "o"
    assert ToolResult(success=False, error={"code": 1}).output is None
    assert ToolResult(success=True, error={"message": "m"}).output is None


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"output": "out"}, "out"),
        ({}, "Success"),
        ({"success": False, "error": {"message": "m"}}, "Error: m"),
        ({"success": False}, "Failed"),
    ],
)
def test_a_result_as_text(given: dict[str, Any], text: str) -> None:
    assert str(ToolResult(**given)) == text


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"output": {"a": Decimal("1.10")}}, '{"a": "1.10"}'),
        ({"output": [1, "two"]}, '[1, "two"]'),
        ({"output": 5}, "5"),
        ({"output": "plain"}, "plain"),
        ({}, "Success"),
        ({"output": {"a": {1, 2}.__class__}}, '{"a": "<class \'set\'>"}'),
        ({"output": "a\x00b\x1bc\td\ne\rf\x7f"}, "abc\td\ne\rf"),
        ({"output": "a\ud800b\udfff"}, "ab"),
    ],
)
def test_what_goes_into_the_conversation(given: dict[str, Any], text: str) -> None:
    """JSON of dicts and lists, otherwise text, without what cannot be sent."""
    assert ToolResult(**given).get_serialized_output() == text


@pytest.mark.parametrize("error", [None, {"code": 1}, "text"])
def test_a_failure_without_output_begins_with_error(error: Any) -> None:
    assert ToolResult(success=False, error=error).get_serialized_output().startswith("Error: ")


def test_content_is_text_and_pictures_and_absent_from_dumps_when_empty() -> None:
    blocks = [{"type": "text", "text": "t"}, {"type": "image", "source": {}}]
    result = ToolResult(content=blocks)
    assert [block.type for block in result.content] == ["text", "image"]
    assert [block["type"] for block in result.model_dump()["content"]] == ["text", "image"]
    for empty in (ToolResult(), ToolResult(content=[])):
        assert "content" not in empty.model_dump()
        assert "content" not in json.loads(empty.model_dump_json())


# Models, providers, modules, sessions

OTHERS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "ModelInfo": (
        {"id": "m", "display_name": "M", "context_window": 10, "max_output_tokens": 5},
        {"capabilities": [], "defaults": {}, "pricing": None},
    ),
    "Pricing": (
        {"input_per_million": 1.0, "output_per_million": 2.0},
        {"cache_read_per_million": None, "cache_write_per_million": None, "currency": "USD"},
    ),
    "ConfigField": (
        {"id": "f", "display_name": "F", "prompt": "?"},
        {"field_type": "text", "env_var": None, "choices": None, "required": True,
         "default": None, "show_when": None, "requires_model": False},
    ),
    "ProviderInfo": (
        {"id": "p", "display_name": "P"},
        {"credential_env_vars": [], "capabilities": [], "defaults": {}, "config_fields": []},
    ),
    "ModuleInfo": (
        {"id": "i", "name": "n", "version": "1", "type": "tool", "mount_point": "tools",
         "description": "d"},
        {"config_schema": None},
    ),
    "SessionStatus": (
        {"session_id": "s"},
        {"ended_at": None, "status": "running", "total_messages": 0, "tool_invocations": 0,
         "tool_successes": 0, "tool_failures": 0, "total_input_tokens": 0,
         "total_output_tokens": 0, "cost_usd": None, "last_activity": None, "last_error": None},
    ),
    "ContextInjection": (
        {"content": "c"},
        {"role": "system", "ephemeral": False, "append_to_last_tool_result": False,
         "hook_name": "unknown", "event": ""},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_the_other_models_have_these_fields(name: str) -> None:
    given, defaults = OTHERS[name]
    kind = getattr(models, name)
    whole = kind(**given).model_dump()
    whole.pop("started_at", None)
    assert whole == given | defaults
    for field in given:
        with pytest.raises(ValidationError, match=field):
            kind(**{key: value for key, value in given.items() if key != field})


@pytest.mark.parametrize("currency", ["EUR", "USD"])
def test_a_currency_is_three_capitals(currency: str) -> None:
    assert models.Pricing(input_per_million=1, output_per_million=1, currency=currency)
    with pytest.raises(ValidationError, match="currency"):
        models.Pricing(input_per_million=1, output_per_million=1, currency=currency.lower())


@pytest.mark.parametrize("kind", ["text", "secret", "choice", "boolean"])
def test_a_setting_has_one_of_four_types(kind: Any) -> None:
    field = models.ConfigField(
        id="f", display_name="F", field_type=kind, prompt="?", show_when={"other": "yes"}
    )
    assert (field.field_type, field.show_when) == (kind, {"other": "yes"})


@pytest.mark.parametrize(
    "kind", ["orchestrator", "provider", "tool", "context", "hook", "resolver"]
)
def test_a_module_has_one_of_six_types(kind: str) -> None:
    given = OTHERS["ModuleInfo"][0]
    assert models.ModuleInfo(**{**given, "type": kind}).type == kind
    with pytest.raises(ValidationError, match="type"):
        models.ModuleInfo(**{**given, "type": "agent"})


@pytest.mark.parametrize("state", ["running", "completed", "failed", "cancelled"])
def test_a_session_has_one_of_four_states(state: Any) -> None:
    assert SessionStatus(session_id="s", status=state).status == state
    with pytest.raises(ValidationError, match="status"):
        SessionStatus(session_id="s", status=f"not {state}")


def test_the_status_of_a_session_as_a_dict() -> None:
    """Ready for JSON, without what is None, beginning now."""
    found = SessionStatus(session_id="s", cost_usd="1.5", last_error={"a": 1}).to_dict()
    assert json.loads(json.dumps(found)) == found
    assert None not in found.values()
    assert (found["cost_usd"], found["last_error"]) == ("1.5", {"a": 1})
    assert datetime.fromisoformat(found["started_at"]).tzinfo is not None


# Content of streams


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("TextContent", {"type": "text", "text": ""}),
        ("ThinkingContent", {"type": "thinking", "text": ""}),
        ("ToolCallContent", {"type": "tool_call", "id": "", "name": "", "arguments": None}),
        ("ToolResultContent", {"type": "tool_result", "tool_call_id": "", "output": None}),
    ],
)
def test_the_content_of_a_stream_becomes_a_dict(name: str, fields: dict[str, Any]) -> None:
    """Type and own fields, never what the provider sent."""
    block = getattr(content_models, name)(raw=object())
    assert isinstance(block, ContentBlock)
    assert block.type == ContentBlockType(fields["type"])
    assert block.to_dict() == fields


def test_an_error_of_a_result_is_in_the_dict_if_it_is_set() -> None:
    block = content_models.ToolResultContent(tool_call_id="1", output="o", error="e")
    assert block.to_dict()["error"] == "e"


def test_the_first_argument_is_the_blocks_own() -> None:
    assert content_models.TextContent("t").text == content_models.ThinkingContent("t").text == "t"
    assert content_models.ToolCallContent("1", "n", {"a": 1}).arguments == {"a": 1}
    assert content_models.ToolResultContent("1", "o").output == "o"
    assert ContentBlock(ContentBlockType.TEXT, "raw").raw == "raw"
    assert ContentBlock(ContentBlockType.TEXT).to_dict() == {"type": "text"}


def test_the_types_of_content_are_strings() -> None:
    names = {one.name: one.value for one in ContentBlockType}
    assert names == {
        name: name.lower() for name in ("TEXT", "THINKING", "TOOL_CALL", "TOOL_RESULT")
    }
    assert issubclass(ContentBlockType, str)


# Capabilities

WELL_KNOWN = [
    "TOOLS", "STREAMING", "THINKING", "VISION", "JSON_MODE", "FAST", "CODE_EXECUTION",
    "WEB_SEARCH", "DEEP_RESEARCH", "LOCAL", "AUDIO", "IMAGE_GENERATION", "COMPUTER_USE",
    "EMBEDDINGS", "LONG_CONTEXT", "BATCH",
]  # fmt: skip


@pytest.mark.parametrize("name", WELL_KNOWN)
def test_a_capability_is_its_name_in_lower_case(name: str) -> None:
    assert getattr(capabilities, name) == name.lower()


def test_the_well_known_capabilities_are_a_list_of_sixteen() -> None:
    known = capabilities.ALL_WELL_KNOWN_CAPABILITIES
    assert type(known) is list
    assert sorted(known) == sorted(name.lower() for name in WELL_KNOWN)
