"""The output of a running tool, as it may be shown."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.testing import TestCoordinator
from amplifier_hooks.agent.tools.live_output import CAPABILITY
from amplifier_hooks.cli.display.live_display import (
    KEPT_LINES,
    MOST_CHARACTERS,
    ToolOutput,
    offer_output,
)
from amplifier_hooks.guards import redaction

KEY = "AKIA" + "IOSFODNN7EXAMPLE"


class Display:
    """Notes which outputs are shown."""

    def __init__(self) -> None:
        self.outputs: list[ToolOutput] = []

    def add_output(self, output: ToolOutput) -> None:
        self.outputs.append(output)

    def remove_output(self, output: ToolOutput) -> None:
        self.outputs.remove(output)


def open_output(coordinator: Any = None) -> tuple[ToolOutput, Display]:
    host, display = coordinator or TestCoordinator(), Display()
    offer_output(host, display)
    output = host.get_capability(CAPABILITY)("Bash", "make")
    assert display.outputs == [output]
    return output, display


def test_the_last_lines_are_kept() -> None:
    """Those being written included; closed, it is shown no more."""
    output, display = open_output()
    for number in range(50):
        output.feed("stdout", f"line {number}\n")
    output.feed("stderr", "and")
    assert output.read_lines() == [*(f"line {n}" for n in range(51 - KEPT_LINES, 50)), "and"]
    output.close()
    assert display.outputs == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("10%\r50%\r", "50%"),
        ("done\r\n", "done"),
        ("\x1b[31mred\x1b[0m \x1b]0;title\x07x", "red x"),
        ("\x1b[2Kbell\x07 \u202eevil", "bell\\u{7} \\u{202E}evil"),
    ],
)
def test_a_line_is_as_a_terminal_would_leave_it_and_harmless(text: str, shown: str) -> None:
    """Progress bars overwrite themselves, colours go, everything else is made visible."""
    output, _ = open_output()
    output.feed("stdout", text)
    assert output.read_lines() == [shown]


@pytest.mark.parametrize("cut", [5, 12])
async def test_no_piece_of_a_secret_is_shown(cut: int) -> None:
    """Not even its beginning, while another stream speaks."""
    coordinator = TestCoordinator()
    await redaction.mount(coordinator, None)
    output, _ = open_output(coordinator)
    output.feed("stdout", f"key {KEY[:cut]}")
    output.feed("stderr", "meanwhile\n")
    assert not any(KEY[:5] in line for line in output.read_lines())
    output.feed("stdout", f"{KEY[cut:]} end\n")
    output.close()
    (line,) = (line for line in output.read_lines() if "key" in line)
    assert line.endswith(" end")
    assert KEY[:5] not in line
    assert KEY[-5:] not in line


def test_a_scrubber_that_sees_whole_texts_only_is_heeded() -> None:
    """Line by line."""
    coordinator = TestCoordinator()
    coordinator.register_scrubber(lambda text: text.replace("hunter22", "***"))
    output, _ = open_output(coordinator)
    output.feed("stdout", "pass hunter")
    output.feed("stdout", "22\n")
    assert output.read_lines() == ["pass ***"]


def test_an_endless_output_costs_no_more_than_its_beginning() -> None:
    """It is said that more came than is shown."""
    output, _ = open_output()
    output.feed("stdout", "x" * 10_000_000)
    output.feed("stdout", "y\n")
    assert output.read_lines() == ["… more output than is shown while it runs"]
    output, _ = open_output()
    output.feed("stdout", "z" * (MOST_CHARACTERS - 1))
    assert len(output.read_lines()[0]) < 10_000
