"""The names that programs may import, by the page of the reference that describes them."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module


@dataclass(frozen=True)
class ApiPage:
    """One page: its file, its title, what it is about, and names by the module to import from."""

    file: str
    title: str
    about: str
    names: dict[str, str]

    def list_names(self) -> list[tuple[str, str]]:
        """Module and name, in order; a module without names stands for all that it exports."""
        return [
            (module, name)
            for module, names in self.names.items()
            for name in names.split() or import_module(module).__all__
        ]


FACES = (
    "amplifier_core",
    "amplifier_core.testing",
    "amplifier_core.validation",
    "amplifier_core.validation.structural",
    "amplifier_core.validation.behavioral",
    "amplifier_audit",
    "amplifier_hooks",
    "amplifier_hooks.frameworks",
)
"""Modules whose every exported name must be on a page."""

PAGES = (
    ApiPage(
        "hooks.md",
        "Hooks",
        "Registering hooks, emitting events to them, and what they answer. [Writing "
        "hooks](../writing-hooks.md) explains it; [Events](../events.md) lists the events.",
        {
            "amplifier_core": "hook HookResult HookRegistry HookHandler ContextInjection",
        },
    ),
    ApiPage(
        "sessions.md",
        "Sessions and coordinators",
        "What carries out the answers of hooks. [Embedding](../embedding.md) shows how to use "
        "each; programs that start from a bundle use [`open_session`](bundles.md#open_session).",
        {
            "amplifier_core": "AmplifierSession SessionCoordinator ModuleCoordinator SessionStatus "
            "CancellationToken CancellationState DisplaySystem",
            "amplifier_core.tool_call": "call_tool",
        },
    ),
    ApiPage(
        "bundles.md",
        "Bundles and saved sessions",
        "From an `amplifier.yaml` or a plan in code to a running session. See "
        "[Bundles](../bundles.md) and [Sessions](../sessions.md).",
        {"amplifier_hooks": ""},
    ),
    ApiPage(
        "approval.md",
        "Approval",
        "Asking people. [Approval systems](../approval-systems.md) explains how to write one.",
        {
            "amplifier_core": "ApprovalSystem ApprovalQuestion ApprovalAnswer ApprovalTimeout "
            "ApprovalProvider ApprovalRequest ApprovalResponse",
        },
    ),
    ApiPage(
        "modules.md",
        "Modules",
        "What tools, providers, loops and contexts implement, and what they see of a session. "
        "See [Writing a tool](../writing-tools.md) and [As a "
        "module](../writing-hooks.md#as-a-module).",
        {
            "amplifier_core": "Tool ToolResult Provider ProviderInfo ModelInfo Pricing ConfigField "
            "Orchestrator ContextManager ModuleLoader ModuleInfo ModuleValidationError "
            "capabilities",
            "amplifier_core.interfaces": "Host Conversation StreamingProvider TokenCounter",
            "amplifier_core.module_sources": "ModuleSource ModuleSourceResolver "
            "FileSystemModuleSource",
            "amplifier_core.utils": "redact_secrets truncate_values",
        },
    ),
    ApiPage(
        "messages.md",
        "Messages",
        "Requests to a model, its replies, and what they are made of.",
        {
            "amplifier_core": "ChatRequest ChatResponse Message TextBlock ThinkingBlock "
            "RedactedThinkingBlock ReasoningBlock ImageBlock ToolCallBlock ToolResultBlock "
            "ToolSpec ToolCall Usage Degradation ResponseFormat ResponseFormatText "
            "ResponseFormatJson ResponseFormatJsonSchema ContentBlock ContentBlockType TextContent "
            "ThinkingContent ToolCallContent ToolResultContent",
        },
    ),
    ApiPage(
        "provider-errors.md",
        "Provider errors",
        "What providers raise, and calling again. Every error is an `LLMError`; its `retryable` "
        "says whether another try can help.",
        {
            "amplifier_core": "LLMError RateLimitError QuotaExceededError ProviderUnavailableError "
            "NetworkError LLMTimeoutError StreamError AuthenticationError AccessDeniedError "
            "NotFoundError InvalidRequestError ContextLengthError ContentFilterError "
            "ConfigurationError InvalidToolCallError AbortError RetryConfig retry_with_backoff "
            "classify_error_message",
        },
    ),
    ApiPage(
        "testing.md",
        "Test doubles",
        "Real behaviour in memory, for tests of hooks and modules. [Testing "
        "hooks](../testing-hooks.md) shows them at work.",
        {"amplifier_core.testing": ""},
    ),
    ApiPage(
        "validation.md",
        "Checks of modules",
        "Whether a module keeps its contract: validators that report, and classes of tests to "
        "inherit from. See [Testing hooks](../testing-hooks.md#testing-a-module).",
        {
            "amplifier_core.validation": "",
            "amplifier_core.validation.structural": "",
            "amplifier_core.validation.behavioral": "",
        },
    ),
    ApiPage(
        "errors.md",
        "Errors of the kernel",
        "What the kernel raises on purpose. Every one is an `AmplifierError`.",
        {
            "amplifier_core.errors": "AmplifierError HookError HookTimeout HookDepthExceeded "
            "InvalidHookResult InjectionError InjectionTooLarge ApprovalError ApprovalTimeout "
            "AuditUnavailable ModuleError ModuleNotFound ModuleLoadError ModuleValidationError "
            "SessionError SessionDenied SessionStateError ToolError UnknownTool",
        },
    ),
    ApiPage(
        "audit.md",
        "The audit trail",
        "Writing, reading and verifying a trail. `amplifier_audit` needs neither the kernel nor "
        "any other package. See [The audit trail](../audit.md).",
        {"amplifier_audit": ""},
    ),
    ApiPage(
        "adapters.md",
        "Adapters",
        "Hooks in front of agents of other frameworks. [Adapters](../adapters/index.md) has a "
        "page with a complete program for each.",
        {"amplifier_hooks.frameworks": ""},
    ),
)
ELSEWHERE = {
    # Doubles are on a page of their own, under the module that authors import.
    "amplifier_core": "EventRecorder MockContextManager MockCoordinator MockTool "
    "ScriptedOrchestrator create_test_coordinator wait_for __version__",
}
"""Names of a face that another page has, or that need no page."""
