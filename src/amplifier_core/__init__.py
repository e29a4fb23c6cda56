"""Amplifier's kernel: hooks that observe and control an agent.

Every name below is loaded from its home when it is first asked for: a process that only routes
events pays for nothing else.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_NAMES = {
    "session": "AmplifierSession",
    "coordinator": "ModuleCoordinator SessionCoordinator",
    "hooks": "HookRegistry",
    "approval": "ApprovalAnswer ApprovalQuestion ApprovalSystem ApprovalTimeout",
    "host.display": "DisplaySystem",
    "cancellation": "CancellationState CancellationToken",
    "loader": "ModuleLoader ModuleValidationError",
    "models": (
        "ConfigField ContextInjection HookResult ModelInfo ModuleInfo Pricing ProviderInfo "
        "SessionStatus ToolResult"
    ),
    "message_models": (
        "ChatRequest ChatResponse Degradation ImageBlock Message ReasoningBlock "
        "RedactedThinkingBlock ResponseFormat ResponseFormatJson ResponseFormatJsonSchema "
        "ResponseFormatText TextBlock ThinkingBlock ToolCall ToolCallBlock ToolResultBlock "
        "ToolSpec Usage"
    ),
    "content_models": (
        "ContentBlock ContentBlockType TextContent ThinkingContent ToolCallContent "
        "ToolResultContent"
    ),
    "interfaces": (
        "ApprovalProvider ApprovalRequest ApprovalResponse ContextManager HookHandler "
        "Orchestrator Provider Tool"
    ),
    "llm_errors": (
        "AbortError AccessDeniedError AuthenticationError ConfigurationError "
        "ContentFilterError ContextLengthError InvalidRequestError InvalidToolCallError "
        "LLMError LLMTimeoutError NetworkError NotFoundError ProviderUnavailableError "
        "QuotaExceededError RateLimitError StreamError"
    ),
    "utils.retry": "RetryConfig classify_error_message retry_with_backoff",
    "testing": (
        "EventRecorder MockContextManager MockCoordinator MockTool ScriptedOrchestrator "
        "create_test_coordinator wait_for"
    ),
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}

__all__ = [*sorted(_HOMES), "__version__", "capabilities"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    if name == "capabilities":
        return import_module(f"{__name__}.capabilities")
    if name == "__version__":
        return _read_version()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _read_version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("amplifier-hooks")
    except PackageNotFoundError:
        return "0"  # run from a tree that is not installed
