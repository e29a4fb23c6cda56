"""The output of a tool while it runs, for whoever looks on."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.testing import TestCoordinator
from amplifier_hooks.agent.tools import bash
from amplifier_hooks.agent.tools.live_output import CAPABILITY, follow_output


class View:
    """Keeps what it is told; `breaks` names the method that fails."""

    def __init__(self, breaks: str = "") -> None:
        self.calls: list[tuple[str, ...]] = []
        self._breaks = breaks

    def open(self, tool: str, about: str) -> View:
        return self._note("open", tool, about)

    def feed(self, stream: str, text: str) -> None:
        self._note("feed", stream, text)

    def close(self) -> None:
        self._note("close")

    def _note(self, *call: str) -> View:
        self.calls.append(call)
        if call[0] == self._breaks:
            raise OSError("no screen")
        return self


async def test_bash_shows_its_output_while_it_runs(coordinator: Any) -> None:
    """Opened with the command, told of both streams, closed at the end."""
    view = View()
    coordinator.register_capability(CAPABILITY, view.open)
    await bash.mount(coordinator, None)
    result = await coordinator.tools["Bash"].execute({"command": "echo out; exit 3"})
    assert result.error == "exit code 3"
    assert view.calls == [
        ("open", "Bash", "echo out; exit 3"),
        ("feed", "stdout", "out\n"),
        ("close",),
    ]


def test_without_anybody_who_looks_on_nothing_is_taken() -> None:
    """The output is the result, and no more."""
    with follow_output(TestCoordinator(), "Bash", "ls") as take:
        assert take is None


@pytest.mark.parametrize("breaks", ["open", "feed", "close"])
def test_a_view_that_fails_does_not_stop_the_tool(breaks: str) -> None:
    """It is not asked again, and the failure is in the log."""
    view, host = View(breaks), TestCoordinator()
    host.register_capability(CAPABILITY, view.open)
    with follow_output(host, "Bash", "ls") as take:
        for _ in range(2 if take else 0):
            assert take is not None
            take("stdout", "text")
    assert [name for name, *_ in view.calls].count(breaks) == 1
