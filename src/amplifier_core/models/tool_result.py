"""What a tool answers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from operator import not_
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from amplifier_core.message_models import ImageBlock, TextBlock

_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r")) + b"\x7f"
_MORE_CONTROLS = re.compile("[\x80-\x9f]")
_THEIR_FIRST_BYTE = b"\xc2"


class ToolResult(BaseModel):
    """The output of a tool, or why there is none.

    `error` is what the tool gave: a sentence, or a dict with `message` and whatever else is known.
    """

    model_config = ConfigDict(extra="ignore", defer_build=True)

    success: bool = True
    output: Any = None
    error: dict[str, Any] | str | None = None
    content: list[TextBlock | ImageBlock] | None = Field(default=None, exclude_if=not_)
    denied: bool = Field(
        default=False,
        exclude_if=not_,
        description="Whether a hook or a person kept the tool from running",
    )

    # Not a validator of the whole model: this one costs nothing where there is no error.
    @field_validator("error")
    @classmethod
    def _show_as_output(cls, error: Any, info: ValidationInfo) -> Any:
        """The message of an error is the output of a tool that failed and has no other."""
        known = info.data
        if isinstance(error, dict) and known.get("success") is False and known["output"] is None:
            known["output"] = error.get("message") or None
        return error

    @classmethod
    def failed(cls, error: str) -> ToolResult:
        """A call that did not work, with the sentence the agent reads."""
        return cls(success=False, output=error, error=error)

    @classmethod
    def refused(cls, sentence: str) -> ToolResult:
        """A call that a hook, a person or the kernel did not allow."""
        return cls(success=False, output=sentence, error=sentence, denied=True)

    @property
    def error_message(self) -> str | None:
        """The sentence in the error, if it has one."""
        if isinstance(self.error, dict):
            message = self.error.get("message")
            return str(message) if message else None
        return self.error or None

    def __str__(self) -> str:
        if self.success:
            return str("Success" if self.output is None else self.output) or "Success"
        message = self.error_message
        return f"Error: {message}" if message else "Failed"

    def get_serialized_output(self) -> str:
        """The text that goes into the conversation."""
        text = self.output
        if type(text) is str and text.isascii() and text.isprintable():
            return text  # as most are
        if text is not None:
            text = _write(text)
        else:
            text = "Success" if self.success else self._describe_failure()
        return _drop_unsendable(text)

    def _describe_failure(self) -> str:
        why = self.error_message or self.error or "the tool failed without saying why"
        return f"Error: {why}"


def _write(output: Any) -> str:
    if isinstance(output, str):
        return output
    try:
        if isinstance(output, dict | list):
            import json

            return json.dumps(output, ensure_ascii=False, default=str)
        return str(output)
    except Exception:  # noqa: BLE001 - cycles, great depth, odd keys, classes that raise
        from amplifier_core.utils import safe_repr

        return safe_repr(output)


def _drop_unsendable(text: str) -> str:
    """The text without control characters and lone surrogates, which no model takes."""
    # Through bytes, which is five times as fast as a regular expression over the text.
    clean = text.encode("utf-8", "ignore").translate(None, _CONTROLS)
    if _THEIR_FIRST_BYTE in clean:
        return _MORE_CONTROLS.sub("", clean.decode())
    return clean.decode()


_FIELDS = frozenset(ToolResult.model_fields)


def read_tool_result(answer: Any) -> ToolResult:
    """The ToolResult in what a tool or a hook handed back."""
    if isinstance(answer, ToolResult):
        return answer
    if isinstance(answer, dict) and "success" in answer and answer.keys() <= _FIELDS:
        return ToolResult.model_validate(answer)
    return ToolResult(output=answer)


def read_changed_result(left: Any) -> ToolResult:
    """The result that hooks left in place of a tool's own."""
    from amplifier_core.utils import describe_error

    try:
        return read_tool_result(left)
    except ValueError as error:
        return ToolResult.failed(f"A hook left no usable result: {describe_error(error)}")


def add_comments(result: ToolResult, comments: Iterable[str]) -> ToolResult:
    """The result behind what the person said when allowing the call."""
    said = "; ".join(comments)
    output = f"The user allowed this and said: {said}\n\n{result.get_serialized_output()}"
    return result.model_copy(update={"output": output})
