"""Which display a run gets, and where it writes."""

from __future__ import annotations

import io
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core import events
from amplifier_core.display import DisplaySystem
from amplifier_hooks.cli.display.display import (
    JsonDisplay,
    Mode,
    choose_mode,
    make_display,
    open_handle,
    to_json_line,
)
from amplifier_hooks.cli.display.line_display import LineDisplay
from amplifier_hooks.cli.display.live_display import LiveDisplay
from tests.hooks.cli.hostile_text import hostile
from tests.hooks.cli.pty_program import ROOT, python


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
