"""One suite per kind of module, run over every implementation that this package ships."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_core.loader import ModuleLoader
from amplifier_core.validation import (
    ContextValidator,
    HookValidator,
    OrchestratorValidator,
    ProviderValidator,
    ToolValidator,
)
from amplifier_core.validation.module import ModuleValidator

KNOWN = sorted(ModuleLoader().known())
NEEDED: dict[str, dict[str, Any]] = {
    "hooks-rules": {
        "rules": [{"name": "all", "event": "tool:pre", "action": "deny", "reason": "closed"}]
    },
    "hooks-model-judge": {"scope": "reading files below the project"},
    "hooks-rate-limit": {"tools": {"*": {"calls": 100}}},
    "hooks-shell": {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "true"}]}]}},
    "hooks-test-runner": {"command": "true"},
    "hooks-notify": {"webhooks": [{"url": "http://127.0.0.1:9/none", "retry_delay": 0}]},
    "provider-scripted": {"script": [{"text": "hi"}]},
    "provider-anthropic": {"api_key": "none", "model": "m"},
    "provider-openai": {"api_key": "none", "model": "m"},
}


async def kept(validator: ModuleValidator, module: str, tmp_path: Path, mp: Any) -> None:
    mp.chdir(tmp_path)
    result = await validator.validate(module, config=NEEDED.get(module))
    assert result.passed, result.describe_errors()


def of(prefix: str, *without: str) -> Any:
    have = [one for one in KNOWN if one.startswith(prefix) and one not in without]
    return pytest.mark.parametrize("module", have)


@of("hooks-")
async def test_hooks(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every hook module mounts, answers every event it hears, and goes away without a trace."""
    await kept(HookValidator(thorough=True), module, tmp_path, monkeypatch)


@of("tool-")
async def test_tools(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every tool has a name, a description and a schema that a model can use."""
    await kept(ToolValidator(thorough=True), module, tmp_path, monkeypatch)


@of("provider-", "provider-local")
async def test_providers(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every provider has the protocol; the local one needs its extra and is tried by make slow."""
    await kept(ProviderValidator(thorough=True), module, tmp_path, monkeypatch)


@of("context-")
async def test_contexts(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every context keeps what it is given."""
    await kept(ContextValidator(thorough=True), module, tmp_path, monkeypatch)


@of("loop-")
async def test_loops(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every loop has the protocol."""
    await kept(OrchestratorValidator(thorough=True), module, tmp_path, monkeypatch)
