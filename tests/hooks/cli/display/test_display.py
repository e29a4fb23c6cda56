"""Which display a run gets, and where it writes."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from amplifier_core.host.display import DisplaySystem
from amplifier_hooks.cli.display.display import (
    JsonDisplay,
    Mode,
    choose_mode,
    make_display,
    open_handle,
)
from amplifier_hooks.cli.display.line_display import LineDisplay
from amplifier_hooks.cli.display.live_display import LiveDisplay


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
