"""What hooks and tools answer with: fields, defaults, and what is refused."""

# Wrong values are handed in on purpose.
# mypy: disable-error-code="arg-type, metaclass"

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core import models
from amplifier_core.models import DEFAULT_APPROVAL_OPTIONS, HookResult, ToolResult, continue_with


class TestResults:
    def test_the_fields_and_defaults(self):
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
    def test_wrong_values_do_not_construct(self, wrong):
        """A typing error is found where it is made."""
        with pytest.raises(ValueError, match="validation error"):
            HookResult(**wrong)

    def test_what_the_kernel_fills_is_what_validation_makes(self):
        made, validated = continue_with({"a": 1}), HookResult.model_validate({"data": {"a": 1}})
        assert made == validated
        assert made.model_dump() == validated.model_dump()
        assert made.model_copy(update={"reason": "x"}).reason == "x"
        assert models.replace_fields(made, reason="x").model_fields_set == {
            "action", "data", "reason",
        }  # fmt: skip

    def test_a_subclass_is_not_interned(self):
        class Mine(HookResult):
            more: int = 1

        assert Mine().more == 1
        assert Mine(action="continue") is not Mine(action="continue")

    def test_tool_results(self):
        """`ToolResult.error` is a string."""
        assert ToolResult(success=False, error={"message": "no"}).error == "no"
        assert ToolResult(error={"code": 5}).error == "{'code': 5}"
        assert ToolResult(error="plain").error == "plain"
        assert ToolResult.failed("no").get_serialized_output() == "no"
        silent = "The tool failed without saying why."
        assert ToolResult(success=False).get_serialized_output() == silent
        assert ToolResult(output="text").get_serialized_output() == "text"
        assert ToolResult(output={"ü": [1]}).get_serialized_output() == '{"ü": [1]}'
        circle: list[Any] = []
        circle.append(circle)
        assert ToolResult(output=circle).get_serialized_output() == "[[...]]"

    def test_message_and_tool_call_live_next_door(self):
        assert models.ToolCall.__name__ == "ToolCall"
        assert models.Message.__name__ == "Message"
        with pytest.raises(AttributeError, match="no attribute 'Nope'"):
            models.Nope  # noqa: B018


async def test_frozen_and_interned():
    """Results are frozen, so interning the usual one is a way."""
    assert HookResult(action="continue") is HookResult()
    assert HookResult() == HookResult.model_validate({"action": "continue"})
    with pytest.raises(ValueError, match="frozen"):
        HookResult().action = "deny"
    assert HookResult(whatever=1).action == "continue"
