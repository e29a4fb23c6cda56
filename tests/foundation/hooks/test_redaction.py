"""hooks-redaction: secrets are replaced before tools, models or people see them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_foundation.hooks.redaction import FIELDS
from tests.support.harness import Harness

PAYLOADS: dict[str, dict[str, Any]] = {
    "tool:pre": {"tool_name": "Bash", "tool_input": {"command": "SECRET"}},
    "tool:post": {
        "tool_name": "Read",
        "tool_input": {"a": ["SECRET"]},
        "tool_result": {"success": True, "output": {"SECRET": ["SECRET"]}, "error": None},
    },
    "content_block:end": {"block_index": 0, "block": {"type": "text", "text": "SECRET"}},
    "prompt:submit": {"prompt": "use SECRET", "metadata": {"k": "SECRET"}},
    "provider:request": {"messages": [{"role": "user", "content": [{"text": "SECRET"}]}]},
    "provider:response": {"response": {"content": [{"type": "text", "text": "SECRET"}]}},
    "tool:error": {"tool_name": "x", "error": {"message": "SECRET"}},
}


@pytest.mark.parametrize("event", PAYLOADS)
async def test_each_event_carries_on_without_the_secret(event: str, tmp_path: Path) -> None:
    """Through `modify` on tool input, tool result, prompt, messages and response."""
    token = "ghp_" + "Zz9" * 12
    harness = Harness(tmp_path)
    await harness.mount("redaction")
    data = json.loads(json.dumps(PAYLOADS[event]).replace("SECRET", token))
    result = await harness.hooks.emit(event, data)
    assert result.action == "continue"
    assert token not in repr(result.data)
    assert "[REDACTED:github-token]" in repr(result.data)
    assert token in repr(data)


async def test_later_hooks_and_the_screen_see_no_secret(tmp_path: Path) -> None:
    """Display and trail through the scrubber; hooks behind it see what it left."""
    token = "ghp_" + "Zz9" * 12
    harness = Harness(tmp_path)
    seen: list[Any] = []

    async def spy(event: str, data: dict[str, Any]) -> dict[str, Any]:
        seen.append(data)
        return {"action": "continue", "user_message": f"leaking {token}"}

    harness.hooks.register("tool:pre", spy)
    await harness.mount("redaction", {"notify": True})
    call = {"tool_name": "Bash", "tool_input": {"command": f"echo {token}"}}
    await harness.coordinator.execute_with_hooks("tool:pre", call)
    shown = repr(harness.coordinator.screen.messages)
    assert token not in repr(seen)
    assert token not in shown
    assert "leaking [REDACTED:github-token]" in shown
    assert "A secret was replaced in tool_input" in shown
    assert token not in repr(harness.coordinator.recorded.__dict__)


async def test_tools_that_need_the_secret_can_be_excepted(tmp_path: Path) -> None:
    """`allow_in_tools` leaves the input of these tools alone, and only their input."""
    token = "ghp_" + "Zz9" * 12
    harness = Harness(tmp_path)
    await harness.mount("redaction", {"allow_in_tools": ["vault_*"]})
    kept = await harness.answer("vault_put", {"value": token})
    assert kept.data is not None
    assert kept.data["tool_input"] == {"value": token}
    result = {"tool_name": "vault_put", "tool_input": {}, "tool_result": {"output": token}}
    after_tool = await harness.hooks.emit("tool:post", result)
    assert token not in repr(after_tool.data)


async def test_own_patterns_shapes_and_replacement_are_configurable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """patterns, off, environment and replacement."""
    monkeypatch.setenv("MY_DEPLOY_TOKEN", "a.b*c(d)e+f$g")
    harness = Harness(tmp_path)
    config = {
        "patterns": {"card": r"\b\d{4}-\d{4}-\d{4}-\d{4}\b", "badge": "badge=(?P<secret>[0-9]+)"},
        "off": ["github-token"],
        "environment": ["MY_*_TOKEN"],
        "replacement": "<{name}>",
    }
    await harness.mount("redaction", config)
    github = "ghp_" + "a" * 36
    text = f"1111-2222-3333-4444 badge=77 {github} x a.b*c(d)e+f$g y"
    result = await harness.hooks.emit("prompt:submit", {"prompt": text})
    assert result.data is not None
    assert result.data["prompt"] == f"<card> badge=<badge> {github} x <env-MY_DEPLOY_TOKEN> y"


async def test_only_the_wanted_events_are_heard(tmp_path: Path) -> None:
    """`events` narrows it down."""
    harness = Harness(tmp_path)
    await harness.mount("redaction", {"events": ["prompt:submit"]})
    assert list(harness.hooks.list_handlers()) == ["prompt:submit"]


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"patterns": {"x": "(?=a)b"}}, "no look-around"),
        ({"patterns": {"x": r"(a)\1"}}, "back-references"),
        ({"patterns": {"x": "("}}, "not a pattern"),
        ({"patterns": {"a b": "x"}}, "'a b' is no name"),
        ({"off": ["github-tokens"]}, "did you mean 'github-token'?"),
        ({"events": ["tool:pree"]}, "did you mean 'tool:pre'?"),
    ],
)
async def test_a_bad_config_says_what_is_wrong(
    tmp_path: Path, config: dict[str, Any], words: str
) -> None:
    """Patterns are compiled at load; their errors say what the engine lacks."""
    with pytest.raises(ModuleLoadError) as refused:
        await Harness(tmp_path).mount("redaction", config)
    assert words in str(refused.value)


def test_every_event_that_carries_text_is_covered() -> None:
    """The five events of the specification are among those that are looked through."""
    assert {
        "tool:pre",
        "tool:post",
        "prompt:submit",
        "provider:request",
        "provider:response",
    } <= set(FIELDS)
