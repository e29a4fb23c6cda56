"""What every tool of ours has: validated input, mistakes as answers, a mount."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from pydantic import BaseModel, Field

from amplifier_core.errors import ModuleLoadError
from amplifier_core.events import ARTIFACT_WRITE
from amplifier_core.hooks import HookRegistry
from amplifier_core.interfaces import Tool
from amplifier_core.models import HookResult, ToolResult
from amplifier_core.payloads import ArtifactWriteData
from amplifier_core.testing import EventRecorder
from amplifier_hooks.agent.tools.base import InputTool, Refused, announce, mount_tools


class CountInput(BaseModel):
    upto: int = Field(ge=1, description="The last number")


class Count(InputTool[CountInput]):
    """Counts, or fails as it is told to."""

    name = "Count"
    description = "Count up to a number."
    input_model: ClassVar[type[BaseModel]] = CountInput

    def __init__(self, failure: Exception | None = None) -> None:
        self.failure = failure

    async def run(self, given: CountInput) -> ToolResult:
        if self.failure is not None:
            raise self.failure
        return ToolResult(output=list(range(1, given.upto + 1)))


class Other(Count):
    name = "Other"


def test_a_tool_explains_itself() -> None:
    """By its name, its description and the schema of its input."""
    tool: Tool = Count()
    assert (tool.name, tool.description) == ("Count", "Count up to a number.")
    assert tool.input_schema["properties"]["upto"]["minimum"] == 1


async def test_a_tool_runs_on_a_validated_input() -> None:
    """What it gets is the model, not the dictionary."""
    assert (await Count().execute({"upto": 3})).output == [1, 2, 3]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "Count: option 'upto' is required"),
        ({"upto": 0}, "option 'upto' cannot be 0"),
        ({"upto": "many"}, "option 'upto' cannot be 'many'"),
        ({"up_to": 3, "upto": 3}, "did you mean 'upto'?"),
        (None, "is required"),
        (["upto"], "must be a mapping"),
    ],
)
async def test_a_wrong_input_is_an_answer(given: Any, words: str) -> None:
    """The agent reads what is wrong and tries again."""
    result = await Count().execute(given)
    assert not result.success
    assert words in result.error


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (Refused("Too far"), "Too far"),
        (OSError(28, "No space left on device"), "Count could not do it: [Errno 28] No space"),
    ],
)
async def test_what_cannot_be_done_is_an_answer(failure: Exception, words: str) -> None:
    """A refusal in its own words, a failure of the system with its reason."""
    result = await Count(failure).execute({"upto": 3})
    assert not result.success
    assert str(result.error).startswith(words)


async def test_a_mistake_of_ours_is_not_hidden() -> None:
    """The kernel records it as the error that it is."""
    with pytest.raises(ZeroDivisionError):
        await Count(ZeroDivisionError()).execute({"upto": 3})


async def test_a_tool_must_do_something() -> None:
    """One without `run` is not finished."""

    class Nothing(InputTool[CountInput]):
        name = "Nothing"
        input_model: ClassVar[type[BaseModel]] = CountInput

    with pytest.raises(NotImplementedError):
        await Nothing().execute({"upto": 1})


async def test_tools_are_mounted_and_taken_away_again(coordinator: Any) -> None:
    """Taking away twice does no harm."""
    unmount = await mount_tools(coordinator, [Count(), Other()], None, "tool-count")
    assert list(coordinator.tools) == ["Count", "Other"]
    await unmount()
    await unmount()
    assert coordinator.tools == {}


async def test_a_bundle_may_want_some_of_them(coordinator: Any) -> None:
    """A name that is none is an error, with those there are, and nothing is mounted."""
    await mount_tools(coordinator, [Count(), Other()], ["Other"], "tool-count")
    assert list(coordinator.tools) == ["Other"]
    with pytest.raises(ModuleLoadError) as caught:
        await mount_tools(coordinator, [Count(), Other()], ["Count", "Cuont"], "tool-count")
    assert str(caught.value) == "tool-count: Unknown tool 'Cuont'; have Count, Other"
    assert list(coordinator.tools) == ["Other"]


async def test_what_a_hook_answers_to_an_announcement_is_carried_out(coordinator: Any) -> None:
    """As far as that is possible after the fact: a message is shown, a denial comes too late."""

    async def comment(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="deny", reason="too late", user_message=f"{data['bytes']} bytes")

    coordinator.hooks.register("artifact:write", comment, name="commentator")
    await announce(coordinator, ARTIFACT_WRITE, ArtifactWriteData(path="/a", bytes=1))
    assert ("1 bytes", "info", "hook:commentator") in coordinator.screen.messages


async def test_a_coordinator_of_the_ecosystem_hears_through_its_registry() -> None:
    """It has hooks, but nothing that carries out their answers."""

    class Older:
        hooks = HookRegistry()

    seen = EventRecorder()
    Older.hooks.register("artifact:write", seen)
    older: Any = Older()
    await announce(older, ARTIFACT_WRITE, ArtifactWriteData(path="/a", bytes=1))
    assert seen.names == ["artifact:write"]
