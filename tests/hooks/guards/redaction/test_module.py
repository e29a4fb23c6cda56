"""hooks-redaction, mounted: what its options do, and what its scrubber reaches."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from tests.support.harness import Harness, finish

TOKEN = "ghp_" + "Zz9" * 12


async def test_screen_trail_and_records_see_no_secret(tmp_path: Path) -> None:
    """Through the scrubber: texts by their shape, and values by their key."""
    harness = Harness(tmp_path)

    async def gossip(event: str, data: dict[str, Any]) -> dict[str, Any]:
        return {"action": "continue", "user_message": f"leaking {TOKEN}"}

    harness.hooks.register("tool:pre", gossip)
    await harness.mount("redaction", {"on_write": "off"})
    call = {"tool_name": "Bash", "tool_input": {"command": f"echo {TOKEN}", "password": "plain"}}
    await harness.coordinator.execute_with_hooks("tool:pre", call)
    assert TOKEN not in repr(harness.shown)
    assert "leaking [REDACTED:github-token]" in repr(harness.shown)
    recorded = repr(harness.trail.records)
    assert TOKEN not in recorded
    assert "'password': '[REDACTED:key-value]'" in recorded


async def test_own_patterns_shapes_and_replacement_are_configurable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """patterns, off, allow, environment and replacement."""
    monkeypatch.setenv("MY_DEPLOY_TOKEN", "a.b*c(d)e+f$g")
    harness = Harness(tmp_path)
    config = {
        "patterns": {"card": r"\b\d{4}-\d{4}-\d{4}-\d{4}\b", "badge": "badge=(?P<secret>[0-9]+)"},
        "off": ["github-token"],
        "allow": ["hunter2"],
        "environment": ["MY_*_TOKEN"],
        "replacement": "<{name}>",
    }
    await harness.mount("redaction", config)
    text = f"1111-2222-3333-4444 badge=77 {TOKEN} x a.b*c(d)e+f$g y password=hunter2 z"
    result = await harness.hooks.emit("prompt:submit", {"prompt": text})
    assert result.data is not None
    expected = f"<card> badge=<badge> {TOKEN} x <env-MY_DEPLOY_TOKEN> y password=hunter2 z"
    assert result.data["prompt"] == expected


async def test_own_patterns_count_in_what_is_written(tmp_path: Path) -> None:
    """Who names a shape means it: own patterns are no guesses."""
    harness = Harness(tmp_path)
    await harness.mount("redaction", {"patterns": {"badge": "badge=[0-9]+"}, "on_write": "deny"})
    denied = await harness.judge("tool:pre", tool_name="Write", tool_input={"content": "badge=77"})
    assert "badge in 'content'" in denied.denial


@pytest.mark.parametrize(
    ("config", "heard"),
    [
        ({"events": ["prompt:submit"]}, ["prompt:submit"]),
        ({"events": ["tool:pre"]}, ["tool:pre"]),
        ({"events": ["tool:pre", "tool:post"], "on_write": "off"}, ["tool:post"]),
    ],
)
async def test_only_the_wanted_events_are_heard(
    config: dict[str, Any], heard: list[str], tmp_path: Path
) -> None:
    """`events` narrows it down."""
    harness = Harness(tmp_path)
    await harness.mount("redaction", config)
    assert list(harness.hooks.list_handlers()) == heard


async def test_log_lines_are_cleaned_while_it_is_mounted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A hook that fails with a secret in its message does not write it to the log."""
    harness = Harness(tmp_path)
    cleanup = await harness.mount("redaction")

    async def fail(event: str, data: dict[str, Any]) -> None:
        raise ValueError(f"cannot use {TOKEN}")

    harness.hooks.register("prompt:submit", fail)
    with caplog.at_level(logging.DEBUG):
        await harness.run("prompt:submit", prompt="x", metadata={})
    await finish(cleanup)
    assert "cannot use [REDACTED:github-token]" in caplog.text
    assert TOKEN not in caplog.text
