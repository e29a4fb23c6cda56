"""The observer: what a display sees of a session, and what it does not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from amplifier_core import events
from amplifier_core.message_models import ChatResponse, TextBlock, Usage
from amplifier_core.testing import ScriptedApproval
from amplifier_hooks.cli.display.display import DENIABLE, JsonDisplay, observe
from tests.support.harness import Harness
from tests.support.hooks import asks, modifies, says


class RecordingScreen(JsonDisplay):
    """Keeps the events that it is shown."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, dict[str, Any]]] = []

    def show_event(self, event: str, data: Mapping[str, Any]) -> None:
        self.seen.append((event, dict(data)))

    def show_denied(self, event: str, data: Mapping[str, Any]) -> None:
        self.show_event(event, data)

    def of(self, event: str) -> list[dict[str, Any]]:
        return [data for name, data in self.seen if name == event]


@pytest.fixture
def screen() -> RecordingScreen:
    return RecordingScreen()


def watch(harness: Harness, screen: RecordingScreen) -> Any:
    return observe(harness.hooks, screen, harness.coordinator.scrub)


async def test_it_sees_what_other_hooks_left_of_an_event(screen: RecordingScreen) -> None:
    """Last in the chain, so that nothing is shown which a hook has taken out."""
    harness = Harness()
    watch(harness, screen)
    harness.hooks.register("tool:pre", modifies(tool_name="Changed"), 5_000, name="changes")
    await harness.pre("Bash", command="ls")
    assert [data["tool_name"] for data in screen.of("tool:pre")] == ["Changed"]


async def test_models_in_an_event_are_shown_as_their_fields(screen: RecordingScreen) -> None:
    """Loops of the ecosystem emit a reply and its usage as they got them."""
    harness = Harness()
    watch(harness, screen)
    harness.coordinator.register_scrubber(lambda text: text.replace("secret", "…"))
    reply = ChatResponse(content=[TextBlock(text="The secret.")], finish_reason="stop")
    usage = Usage(input_tokens=1, output_tokens=2, total_tokens=3)
    await harness.emit(events.PROVIDER_RESPONSE, response=reply, usage=usage)
    ((_, data),) = screen.seen
    assert data["response"]["content"][0]["text"] == "The …."
    assert data["usage"]["total_tokens"] == 3


async def test_a_denial_says_which_call_was_denied(screen: RecordingScreen) -> None:
    """The denied event itself never gets to the end of its chain."""
    harness = Harness()
    watch(harness, screen)
    harness.hooks.register("tool:pre", says("deny", reason="no"), name="guard")
    await harness.pre("Bash", command="rm")
    (denial,) = screen.of(events.POLICY_VIOLATION)
    assert (denial["tool_name"], denial["tool_input"]) == ("Bash", {"command": "rm"})
    assert denial["refused_by_person"] is False


@pytest.mark.parametrize("event", DENIABLE)
async def test_a_denied_event_is_shown_before_its_denial(
    screen: RecordingScreen, event: str
) -> None:
    """Scrubbed, and once: it never gets to the end of its chain."""
    harness = Harness()
    watch(harness, screen)
    harness.coordinator.register_scrubber(lambda text: text.replace("secret", "…"))
    harness.hooks.register(event, says("deny", reason="no"), name="guard")
    await harness.coordinator.execute_with_hooks(event, {"prompt": "a secret"})
    assert [name for name, _ in screen.seen] == [event, events.POLICY_VIOLATION]
    assert screen.of(event)[0]["prompt"] == "a …"


async def test_an_event_that_a_person_refused_is_shown_once(screen: RecordingScreen) -> None:
    """A question lets the chain go on to its end, where it was shown already."""
    harness = Harness(approval=ScriptedApproval("Deny"))
    watch(harness, screen)
    harness.hooks.register("prompt:submit", asks("Really?"), name="asker")
    await harness.coordinator.execute_with_hooks("prompt:submit", {"prompt": "hi"})
    assert len(screen.of("prompt:submit")) == 1
    assert len(screen.of(events.POLICY_VIOLATION)) == 1


@pytest.mark.parametrize(
    "event", [events.TOOL_POST, events.PROVIDER_RESPONSE, events.PROMPT_ANSWER]
)
async def test_a_result_that_a_hook_withholds_is_not_shown(
    screen: RecordingScreen, event: str
) -> None:
    """Whatever the guard saw in it stays with the guard."""
    harness = Harness()
    watch(harness, screen)
    harness.hooks.register(event, says("deny", reason="no"), name="guard")
    await harness.coordinator.execute_with_hooks(event, {"tool_result": {"output": "private"}})
    assert [name for name, _ in screen.seen] == [events.POLICY_VIOLATION]


async def test_a_person_s_refusal_is_marked_so_that_it_is_shown_once(
    screen: RecordingScreen,
) -> None:
    """The next denial is one of its own again."""
    harness = Harness(approval=ScriptedApproval("Deny"))
    watch(harness, screen)
    remove = harness.hooks.register("tool:pre", asks(), name="asker")
    await harness.pre("Bash", command="rm")
    remove()
    harness.hooks.register("tool:pre", says("deny", reason="no"), name="guard")
    await harness.pre("Bash", command="rm")
    marks = [data["refused_by_person"] for data in screen.of(events.POLICY_VIOLATION)]
    assert marks == [True, False]


async def test_secrets_are_scrubbed_before_they_are_shown(screen: RecordingScreen) -> None:
    """Of the event and of the call that a denial is about."""
    harness = Harness()
    observe(harness.hooks, screen, lambda value: dict.fromkeys(value, "*"))
    harness.hooks.register("tool:pre", says("deny", reason="no"), name="guard")
    await harness.pre("Bash", command="secret")
    await harness.run("my:event", value="secret")
    assert "secret" not in repr(screen.seen)
    assert screen.of("my:event") != []


async def test_it_changes_no_outcome_and_can_be_removed(screen: RecordingScreen) -> None:
    """A display looks on; after its end it sees nothing."""
    harness = Harness()
    stop = watch(harness, screen)
    assert (await harness.run("my:event", a=1)).action == "continue"
    seen = len(screen.seen)
    stop()
    await harness.run("my:event", a=2)
    assert len(screen.seen) == seen == 1


async def test_what_was_denied_is_not_shown_where_all_hooks_run(screen: RecordingScreen) -> None:
    """With `session.run_all` the display is told of what a hook has withheld; it stays hidden."""
    harness = Harness(run_all=True)
    watch(harness, screen)
    harness.hooks.register(events.TOOL_POST, says("deny", reason="no"), name="guard")
    await harness.run(events.TOOL_POST, tool_result={"output": "private"})
    assert [name for name, _ in screen.seen] == [events.POLICY_VIOLATION]
