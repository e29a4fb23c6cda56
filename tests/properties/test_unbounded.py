"""Whatever size or shape a tool or a hook brings, the session goes on."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.models import HookResult, ToolResult
from amplifier_core.testing import EventRecorder, MockTool
from amplifier_hooks.agent.loops.loop import RESULT_LIMIT, render_result
from tests.support.sessions import SessionHarness, calls


def deep(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"in": value}
    return value


def circle() -> dict[str, Any]:
    value: dict[str, Any] = {"name": "circle"}
    value["self"] = value
    return value


class Unprintable:
    def __repr__(self) -> str:
        raise ValueError("no repr")

    def __deepcopy__(self, memo: Any) -> Any:
        raise ValueError("no copy")


class Ambiguous:
    """As arrays do: a comparison that is neither true nor false."""

    def __eq__(self, other: object) -> Any:
        return self

    def __bool__(self) -> bool:
        raise ValueError("the truth value is ambiguous")

    __hash__ = None  # type: ignore[assignment]


PAYLOADS = {
    "100 MB": lambda: "x" * 100_000_000,
    "100 MB in a dict": lambda: {"text": "x" * 100_000_000},
    "depth 10,000": lambda: deep(10_000),
    "100,000 keys": lambda: {str(number): number for number in range(100_000)},
    "1,000,000 keys": lambda: {str(number): number for number in range(1_000_000)},
    "a circle": circle,
    "an object without repr": lambda: {"it": Unprintable()},
    "an ambiguous comparison": lambda: {"it": Ambiguous()},
    "odd keys": lambda: {(1, 2): "pair", None: "nothing"},
    "lone surrogates": lambda: "a\ud800b",
}


SLOW = ("100 MB in a dict", "1,000,000 keys")
CASES = [
    pytest.param(name, observed, marks=pytest.mark.slow if name in SLOW else ())
    for observed in (True, False)
    for name in PAYLOADS
]


@pytest.mark.parametrize(("name", "observed"), CASES)
async def test_any_result_of_a_tool_is_survived_and_cut(name: str, observed: bool) -> None:
    """Huge, deep, wide, circular, or a thing without a text: the agent reads something."""
    output = PAYLOADS[name]()
    tool = MockTool("Big", lambda given: ToolResult(output=output))
    async with SessionHarness([calls("Big"), {"text": "survived"}], tools=[tool]) as harness:
        if observed:
            harness.hooks.register("tool:*", EventRecorder(), name="watching")
        assert await harness.session.execute("go") == "survived"
        (text,) = harness.texts("tool")
    assert len(text) <= RESULT_LIMIT + 200
    text.encode("utf-8")


@pytest.mark.parametrize("name", ["depth 10,000", "a circle", "100 MB"])
async def test_any_data_of_a_hook_is_survived(name: str) -> None:
    """A hook that changes input and result into something enormous changes them, no more."""
    odd = PAYLOADS[name]()

    async def change(event: str, data: dict[str, Any]) -> HookResult:
        key = "tool_input" if event == "tool:pre" else "tool_result"
        changed = {"odd": odd} if event == "tool:pre" else {"success": True, "output": odd}
        return HookResult(action="modify", data={**data, key: changed})

    tool = MockTool("Echo", "fine")
    async with SessionHarness([calls("Echo"), {"text": "survived"}], tools=[tool]) as harness:
        harness.hooks.register("tool:*", change)
        assert await harness.session.execute("go") == "survived"
    assert tool.calls[0].keys() == {"odd"}


def test_a_long_result_is_cut_with_a_sentence() -> None:
    """What goes into the conversation is cut at a limit, and the agent is told."""
    text = render_result(ToolResult(output="abcdef"), 4)
    assert text.startswith("abcd\n[2 of 6 characters are left out: over the limit of 4")
    assert render_result(ToolResult(output="abcdef"), None) == "abcdef"


async def test_the_limit_is_the_sessions_to_set() -> None:
    """session.tool_result_limit; hooks and callers still see the whole result."""
    tool = MockTool("Echo", "x" * 50)
    async with SessionHarness(
        [calls("Echo"), {"text": "ok"}], tools=[tool], session={"tool_result_limit": 10}
    ) as harness:
        heard = harness.listen()
        await harness.session.execute("go")
        (text,) = harness.texts("tool")
    assert text.startswith("x" * 10 + "\n[40 of 50 characters")
    ((_, post),) = heard.get_events("tool:post")
    assert post["tool_result"]["output"] == "x" * 50
