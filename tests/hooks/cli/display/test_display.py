"""Which display a run gets, and where it writes."""

from __future__ import annotations

import io
import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core import events
from amplifier_core.display import DisplaySystem
from amplifier_core.message_models import ChatResponse, TextBlock, Usage
from amplifier_core.testing import ScriptedApproval
from amplifier_hooks.cli.display.display import (
    DENIABLE,
    JsonDisplay,
    Mode,
    choose_mode,
    make_display,
    observe,
    open_handle,
    to_json_line,
)
from amplifier_hooks.cli.display.line_display import LineDisplay
from amplifier_hooks.cli.display.live_display import LiveDisplay
from tests.hooks.cli.hostile_text import hostile
from tests.hooks.cli.pty_program import ROOT, python
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


def read(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_json_mode_is_one_object_a_line() -> None:
    """Every event, every message, and the result last; pure ASCII."""
    done = subprocess.run(
        python("tests.hooks.cli.display.scripted_run", "json"),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=50,
        start_new_session=True,
        check=True,
    )
    said = [json.loads(line) for line in done.stdout.splitlines()]
    assert said[-1]["type"] == "result"
    assert said[-1]["tokens"] == 2468
    assert {one["event"] for one in said if one["type"] == "event"} >= {"tool:pre", "tool:post"}
    assert done.stdout.isascii()


@given(st.sampled_from(events.ALL_EVENTS), st.dictionaries(hostile, hostile))
def test_an_event_is_written_with_all_its_data(event: str, data: dict[str, str]) -> None:
    """Whatever is in it, it is one line and can be read back."""
    stream = io.StringIO()
    JsonDisplay(stream).show_event(event, data)
    # Two lone surrogates beside each other are one character for every reader of JSON.
    told = json.loads(json.dumps(data))
    assert read(stream) == [{"type": "event", "event": event, "data": told}]


def test_the_result_has_what_the_run_added_up_to() -> None:
    """Tokens, cost and seconds beside what the command adds."""
    stream = io.StringIO()
    display = JsonDisplay(stream)
    display.start()
    display.show_event(events.PROVIDER_RESPONSE, {"usage": {"total_tokens": 7, "cost": 0.5}})
    display.stop()
    display.show_result(response="done", status="done")
    result = read(stream)[-1]
    assert result.pop("seconds") >= 0
    assert result == {
        "type": "result",
        "response": "done",
        "status": "done",
        "tokens": 7,
        "cost": 0.5,
        "hook_failures": 0,
    }


def test_a_reply_is_written_with_the_result_only() -> None:
    """A program reads it there."""
    stream = io.StringIO()
    JsonDisplay(stream).show_reply("Hello.")
    assert stream.getvalue() == ""


def test_a_message_keeps_its_level_and_source() -> None:
    """Also while a person decides or types elsewhere."""
    stream = io.StringIO()
    display = JsonDisplay(stream)
    with display.pause(), display.hold():
        display.show_message("careful", "warning", "hook:guard")
    assert read(stream) == [
        {"type": "message", "level": "warning", "source": "hook:guard", "message": "careful"}
    ]


def test_what_json_cannot_express_is_written_as_text() -> None:
    """A line is never lost, and never two."""
    assert json.loads(to_json_line({"type": "x", "value": {1, 2} & {1}})) == {
        "type": "x",
        "value": "{1}",
    }
    loop: dict[str, Any] = {"type": "x"}
    loop["self"] = loop
    told = json.loads(to_json_line(loop))
    assert told["type"] == "x"
    assert "self" in told["unprintable"]


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_modes(monkeypatch: pytest.MonkeyPatch) -> None:
    """JSON when asked for, live only on a terminal that can do more than print."""
    monkeypatch.setenv("TERM", "xterm")
    assert choose_mode(as_json=True, stream=Screen()) == "json"
    assert choose_mode(as_json=False, stream=Screen()) == "live"
    assert choose_mode(as_json=False, stream=io.StringIO()) == "plain"
    monkeypatch.setenv("TERM", "dumb")
    assert choose_mode(as_json=False, stream=Screen()) == "plain"


@pytest.mark.parametrize(
    ("mode", "kind"), [("json", JsonDisplay), ("plain", LineDisplay), ("live", LiveDisplay)]
)
def test_every_mode_has_its_display(mode: Mode, kind: type) -> None:
    """Each of them is a display of the kernel, too."""
    display = make_display(mode)
    assert type(display) is kind
    assert isinstance(display, DisplaySystem)


def test_a_handle_takes_any_character_and_leaves_its_descriptor_open(tmp_path: Path) -> None:
    """A lone surrogate does not break it; closing it does not close what others write to."""
    path = tmp_path / "out"
    with path.open("wb") as file:
        handle = open_handle(file.fileno())
        handle.write("é\ud800\n")
        handle.close()
        os.write(file.fileno(), b"still open")
    assert path.read_text() == "é\\u{D800}\nstill open"


def test_a_handle_has_the_encoding_of_the_stream_beside_it(tmp_path: Path) -> None:
    """What it cannot write has a likeness in ASCII, or is shown as an escape."""
    path = tmp_path / "out"
    with path.open("wb") as file, (tmp_path / "like").open("w", encoding="latin-1") as like:
        handle = open_handle(file.fileno(), like)
        handle.write("é ✓ 漢\n")
        handle.close()
    assert path.read_bytes() == b"\xe9 + \\u{6F22}\n"
