"""Every name that existing modules import, at the top of the package and in its home."""

from __future__ import annotations

import ast
import importlib
import importlib.metadata
import subprocess
import sys
from pathlib import Path

import pytest

import amplifier_core

HOMES = {
    "session": "AmplifierSession",
    "coordinator": "ModuleCoordinator",
    "hooks": "HookRegistry",
    "cancellation": "CancellationToken CancellationState",
    "loader": "ModuleLoader ModuleValidationError",
    "models": (
        "HookResult ContextInjection ToolResult ModelInfo Pricing ConfigField ProviderInfo "
        "ModuleInfo SessionStatus"
    ),
    "message_models": (
        "ChatRequest ChatResponse Message TextBlock ThinkingBlock RedactedThinkingBlock "
        "ToolCallBlock ToolResultBlock ImageBlock ReasoningBlock ToolSpec ToolCall Usage "
        "Degradation ResponseFormat ResponseFormatText ResponseFormatJson ResponseFormatJsonSchema"
    ),
    "content_models": (
        "ContentBlock ContentBlockType TextContent ThinkingContent ToolCallContent "
        "ToolResultContent"
    ),
    "interfaces": (
        "Orchestrator Provider Tool ContextManager HookHandler ApprovalProvider ApprovalRequest "
        "ApprovalResponse"
    ),
    "llm_errors": (
        "LLMError RateLimitError QuotaExceededError AuthenticationError AccessDeniedError "
        "NotFoundError InvalidRequestError ContextLengthError ContentFilterError AbortError "
        "ConfigurationError InvalidToolCallError ProviderUnavailableError NetworkError "
        "LLMTimeoutError StreamError"
    ),
    "utils.retry": "RetryConfig retry_with_backoff classify_error_message",
    "testing": (
        "MockCoordinator MockTool MockContextManager EventRecorder ScriptedOrchestrator "
        "create_test_coordinator wait_for"
    ),
}
NAMES = [(home, name) for home, names in HOMES.items() for name in names.split()]


@pytest.mark.parametrize(("home", "name"), NAMES, ids=[name for _, name in NAMES])
def test_a_name_is_at_the_top_and_in_its_home(home: str, name: str) -> None:
    """Both are the same object."""
    module = importlib.import_module(f"amplifier_core.{home}")
    assert getattr(amplifier_core, name) is getattr(module, name)


def test_everything_that_is_announced_is_there() -> None:
    """At least 61 names, every one resolvable, and the version is a string."""
    assert len(amplifier_core.__all__) >= 61
    assert {name for _, name in NAMES} <= set(amplifier_core.__all__)
    for name in amplifier_core.__all__:
        assert getattr(amplifier_core, name) is not None
    assert isinstance(amplifier_core.__version__, str)


def test_the_capabilities_are_a_module_at_the_top(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also before anybody has imported them."""
    found = importlib.import_module("amplifier_core.capabilities")
    monkeypatch.delattr(amplifier_core, "capabilities", raising=False)
    assert amplifier_core.capabilities is found


def test_the_registry_offers_the_results_too() -> None:
    from amplifier_core import hooks, models

    assert hooks.HookResult is models.HookResult
    assert hooks.ContextInjection is models.ContextInjection


def test_the_handler_at_the_top_is_the_protocol() -> None:
    """Not the registry's record."""
    from amplifier_core import hooks, interfaces

    assert amplifier_core.HookHandler is interfaces.HookHandler
    assert not isinstance(hooks.HookHandler, type(amplifier_core.HookHandler))


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("module_sources", "ModuleNotFoundError"),
        ("utils.retry", "retry_with_backoff"),
        ("utils.truncate", "redact_secrets"),
        ("validation.base", "ValidationResult"),
        ("validation.behavioral", "HookBehaviorTests"),
        ("validation.structural", "HookStructuralTests"),
    ],
)
def test_further_modules_can_be_imported(module: str, name: str) -> None:
    assert hasattr(importlib.import_module(f"amplifier_core.{module}"), name)


def test_first_hooks_of_earlier_versions_import_what_they_name() -> None:
    """`amplifier init` wrote this line into the folders of people, who never touch it again."""
    line = "from amplifier_core.events.payloads import ToolPreData; print(ToolPreData.__module__)"
    done = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("amplifier_core.payloads\n", "")


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        amplifier_core.Nonsense  # type: ignore[attr-defined]  # noqa: B018


def test_importing_the_package_imports_nothing_else() -> None:
    """Names are loaded when they are asked for."""
    code = "import sys, amplifier_core; print([m for m in sys.modules if m.startswith('pydantic')])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_type_checkers_know_every_name() -> None:
    """The guarded imports name exactly what is handed out."""
    source = Path(str(amplifier_core.__file__)).read_text(encoding="utf-8")
    guarded = next(node for node in ast.parse(source).body if isinstance(node, ast.If))
    typed = {
        alias.asname
        for node in guarded.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert typed == set(amplifier_core.__all__) - {"__version__"}
