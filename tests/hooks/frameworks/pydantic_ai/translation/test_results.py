"""Results of tools."""

from __future__ import annotations

from datetime import date

import pytest

pytest.importorskip("pydantic_ai")

from pydantic_ai import BinaryContent, SkipToolExecution, ToolDenied, ToolFailed, ToolReturn

from amplifier_core.models import ToolResult
from amplifier_hooks.external.verdicts import Called
from amplifier_hooks.frameworks.pydantic_ai.tools import (
    describe_result,
    restore_result,
)

PICTURE = BinaryContent(b"x", media_type="image/png")
RICH = ToolReturn({"rows": 1}, content=["see", PICTURE], metadata={"id": 7}, tools=["launch"])


def test_hooks_see_json() -> None:
    """Of any object; a text stays one."""
    assert describe_result("noted").output == "noted"
    assert describe_result({"on": date(2026, 11, 17)}).output == {"on": "2026-11-17"}
    assert describe_result(ToolReturn([1])).output == [1]
    assert "object" in str(describe_result(object()).output)


def test_hooks_see_all_that_the_model_reads() -> None:
    """Not what is for the application."""
    output = describe_result(RICH).output
    assert output["return_value"] == {"rows": 1}
    assert output["content"][0] == "see"
    assert "metadata" not in output


def test_a_denial_of_somebody_else_is_no_success() -> None:
    """Such as of another guard."""
    seen = describe_result(ToolDenied("not now"))
    assert not seen.success
    assert seen.output == "not now"


def test_what_hooks_leave_alone_is_the_same_object() -> None:
    """Nothing is copied."""
    called = Called(describe_result(RICH), RICH, ran=True)
    assert restore_result(called) is RICH


def test_another_output_takes_the_place_of_everything_that_the_model_reads() -> None:
    """What is for the application and the framework stays."""
    left = restore_result(Called(ToolResult(output="gone"), RICH, ran=True, changed=True))
    assert (left.return_value, left.content) == ("gone", None)
    assert (left.metadata, left.tools) == ({"id": 7}, ["launch"])
    assert restore_result(Called(ToolResult(output=[2]), [1], ran=True, changed=True)) == [2]


def test_each_of_two_texts_can_be_changed_by_itself() -> None:
    """A picture that is left alone stays what it is."""
    shown = describe_result(RICH).output
    changed = ToolResult(output={**shown, "return_value": {"rows": 2}})
    left = restore_result(Called(changed, RICH, ran=True, changed=True))
    assert left.return_value == {"rows": 2}
    assert left.content == ["see", PICTURE]
    changed = ToolResult(output={**shown, "content": ["look"]})
    left = restore_result(Called(changed, RICH, ran=True, changed=True))
    assert left.content == ["look"]
    changed = ToolResult(output={**shown, "content": {"see": 1}})
    left = restore_result(Called(changed, RICH, ran=True, changed=True))
    assert left.content == "{'see': 1}"


def test_a_denial_and_a_failure_are_raised() -> None:
    """Nobody takes them for a result."""
    with pytest.raises(SkipToolExecution) as skipped:
        restore_result(Called(ToolResult.refused("no")))
    assert isinstance(skipped.value.result, ToolDenied)
    assert skipped.value.result.message == "no"
    with pytest.raises(ToolFailed, match="broken"):
        restore_result(Called(ToolResult.failed("broken")))
