"""Amplifier's kernel: hooks that observe and control an agent.

Every name below is loaded from its home when it is first asked for: a process that only routes
events pays for nothing else.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from amplifier_core import only_kernel as only_kernel

if TYPE_CHECKING:  # so that type checkers know them as well
    from amplifier_core import capabilities as capabilities
    from amplifier_core.approval import ApprovalAnswer as ApprovalAnswer
    from amplifier_core.approval import ApprovalQuestion as ApprovalQuestion
    from amplifier_core.approval import ApprovalSystem as ApprovalSystem
    from amplifier_core.approval import ApprovalTimeout as ApprovalTimeout
    from amplifier_core.cancellation import CancellationState as CancellationState
    from amplifier_core.cancellation import CancellationToken as CancellationToken
    from amplifier_core.content_models import ContentBlock as ContentBlock
    from amplifier_core.content_models import ContentBlockType as ContentBlockType
    from amplifier_core.content_models import TextContent as TextContent
    from amplifier_core.content_models import ThinkingContent as ThinkingContent
    from amplifier_core.content_models import ToolCallContent as ToolCallContent
    from amplifier_core.content_models import ToolResultContent as ToolResultContent
    from amplifier_core.coordinator import ModuleCoordinator as ModuleCoordinator
    from amplifier_core.coordinator import SessionCoordinator as SessionCoordinator
    from amplifier_core.display import DisplaySystem as DisplaySystem
    from amplifier_core.hooks import HookRegistry as HookRegistry
    from amplifier_core.interfaces import ApprovalProvider as ApprovalProvider
    from amplifier_core.interfaces import ApprovalRequest as ApprovalRequest
    from amplifier_core.interfaces import ApprovalResponse as ApprovalResponse
    from amplifier_core.interfaces import ContextManager as ContextManager
    from amplifier_core.interfaces import HookHandler as HookHandler
    from amplifier_core.interfaces import Orchestrator as Orchestrator
    from amplifier_core.interfaces import Provider as Provider
    from amplifier_core.interfaces import Tool as Tool
    from amplifier_core.interfaces import hook as hook
    from amplifier_core.llm_errors import AbortError as AbortError
    from amplifier_core.llm_errors import AccessDeniedError as AccessDeniedError
    from amplifier_core.llm_errors import AuthenticationError as AuthenticationError
    from amplifier_core.llm_errors import ConfigurationError as ConfigurationError
    from amplifier_core.llm_errors import ContentFilterError as ContentFilterError
    from amplifier_core.llm_errors import ContextLengthError as ContextLengthError
    from amplifier_core.llm_errors import InvalidRequestError as InvalidRequestError
    from amplifier_core.llm_errors import InvalidToolCallError as InvalidToolCallError
    from amplifier_core.llm_errors import LLMError as LLMError
    from amplifier_core.llm_errors import LLMTimeoutError as LLMTimeoutError
    from amplifier_core.llm_errors import NetworkError as NetworkError
    from amplifier_core.llm_errors import NotFoundError as NotFoundError
    from amplifier_core.llm_errors import ProviderUnavailableError as ProviderUnavailableError
    from amplifier_core.llm_errors import QuotaExceededError as QuotaExceededError
    from amplifier_core.llm_errors import RateLimitError as RateLimitError
    from amplifier_core.llm_errors import StreamError as StreamError
    from amplifier_core.loader import ModuleLoader as ModuleLoader
    from amplifier_core.loader import ModuleValidationError as ModuleValidationError
    from amplifier_core.message_models import ChatRequest as ChatRequest
    from amplifier_core.message_models import ChatResponse as ChatResponse
    from amplifier_core.message_models import Degradation as Degradation
    from amplifier_core.message_models import ImageBlock as ImageBlock
    from amplifier_core.message_models import Message as Message
    from amplifier_core.message_models import ReasoningBlock as ReasoningBlock
    from amplifier_core.message_models import RedactedThinkingBlock as RedactedThinkingBlock
    from amplifier_core.message_models import ResponseFormat as ResponseFormat
    from amplifier_core.message_models import ResponseFormatJson as ResponseFormatJson
    from amplifier_core.message_models import ResponseFormatJsonSchema as ResponseFormatJsonSchema
    from amplifier_core.message_models import ResponseFormatText as ResponseFormatText
    from amplifier_core.message_models import TextBlock as TextBlock
    from amplifier_core.message_models import ThinkingBlock as ThinkingBlock
    from amplifier_core.message_models import ToolCall as ToolCall
    from amplifier_core.message_models import ToolCallBlock as ToolCallBlock
    from amplifier_core.message_models import ToolResultBlock as ToolResultBlock
    from amplifier_core.message_models import ToolSpec as ToolSpec
    from amplifier_core.message_models import Usage as Usage
    from amplifier_core.models import ConfigField as ConfigField
    from amplifier_core.models import ContextInjection as ContextInjection
    from amplifier_core.models import HookResult as HookResult
    from amplifier_core.models import ModelInfo as ModelInfo
    from amplifier_core.models import ModuleInfo as ModuleInfo
    from amplifier_core.models import Pricing as Pricing
    from amplifier_core.models import ProviderInfo as ProviderInfo
    from amplifier_core.models import SessionStatus as SessionStatus
    from amplifier_core.models import ToolResult as ToolResult
    from amplifier_core.session import AmplifierSession as AmplifierSession
    from amplifier_core.testing import EventRecorder as EventRecorder
    from amplifier_core.testing import MockContextManager as MockContextManager
    from amplifier_core.testing import MockCoordinator as MockCoordinator
    from amplifier_core.testing import MockTool as MockTool
    from amplifier_core.testing import ScriptedOrchestrator as ScriptedOrchestrator
    from amplifier_core.testing import create_test_coordinator as create_test_coordinator
    from amplifier_core.testing import wait_for as wait_for
    from amplifier_core.utils.retry import RetryConfig as RetryConfig
    from amplifier_core.utils.retry import classify_error_message as classify_error_message
    from amplifier_core.utils.retry import retry_with_backoff as retry_with_backoff

    __version__: str

_NAMES = {
    "session": "AmplifierSession",
    "coordinator": "ModuleCoordinator SessionCoordinator",
    "hooks": "HookRegistry",
    "approval": "ApprovalAnswer ApprovalQuestion ApprovalSystem ApprovalTimeout",
    "display": "DisplaySystem",
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
        "Orchestrator Provider Tool hook"
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


if not TYPE_CHECKING:  # pragma: no branch - checkers would take any name

    def __getattr__(name):
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
        return version("amplifier-core")
    except PackageNotFoundError:
        return "0"  # run from a tree that is not installed


PUBLIC_MODULES = (
    "answers",
    "approval",
    "capabilities",
    "coordinator",
    "dispatch",
    "display",
    "errors",
    "event_names",
    "events",
    "gatekeeper",
    "handlers",
    "handovers",
    "hook_counts",
    "hooks",
    "host",
    "interfaces",
    "llm_errors",
    "loader",
    "message_models",
    "models",
    "mount_plan",
    "mounting",
    "only_kernel",
    "operation",
    "payloads",
    "precedence",
    "records",
    "registration",
    "session",
    "testing",
    "tool_call",
    "trail",
    "utils",
    "validation",
)
