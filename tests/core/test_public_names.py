"""Names that are public in the existing implementation, at the paths they have there."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from amplifier_core import AmplifierSession, HookRegistry
from amplifier_core.correlation import current_request_id
from amplifier_core.errors import ModuleLoadError
from amplifier_core.loader import MODULE_FAILURE_REASONS, module_failure_reason
from amplifier_core.only_kernel import refuse_foreign_files
from amplifier_core.validation.mount_plan import MountPlanValidator

NAMES = {
    "utils": "RetryConfig retry_with_backoff classify_error_message redact_secrets truncate_values",
    "display": "DisplaySystem",
    "message_models": "ContentBlockUnion",
    "validation.tool": "ToolValidator",
    "validation.provider": "ProviderValidator",
    "validation.context": "ContextValidator",
    "validation.orchestrator": "OrchestratorValidator",
    "validation.hook": "HookValidator",
    "correlation": "current_request_id",
    "loader": "MODULE_FAILURE_REASONS module_failure_reason",
}


@pytest.mark.parametrize("module", NAMES)
def test_a_name_is_at_its_path(module: str) -> None:
    """And is the one that the kernel itself uses."""
    home = import_module(f"amplifier_core.{module}")
    for name in NAMES[module].split():
        assert getattr(home, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        _ = home.Nonsense


async def test_tests_may_say_that_a_session_is_initialized() -> None:
    """`_initialized` is the older name of it."""
    plan = {"session": {"orchestrator": "loop-basic", "context": "context-simple"}}
    session = AmplifierSession(plan)
    session._initialized = True
    assert session.initialized
    assert session._initialized


@pytest.mark.parametrize(
    "foreign", ["amplifier_core/_engine.abi3.so", "amplifier_core-2.0.2.dist-info"]
)
def test_a_kernel_that_is_mixed_with_another_is_refused(tmp_path: Path, foreign: str) -> None:
    """By the compiled engine, or by metadata that is not of a build of ours."""
    package = tmp_path / "amplifier_core"
    package.mkdir()
    (tmp_path / "amplifier_core-2.0.2+hooks.1.dist-info").mkdir()
    refuse_foreign_files(package)
    (tmp_path / foreign).mkdir()
    with pytest.raises(ImportError, match=r"docs/installing\.md"):
        refuse_foreign_files(package)


def test_a_failure_to_load_has_a_reason_code() -> None:
    """One of the list, whatever an error carries."""
    missing = ModuleLoadError("x", module_id="m", reason_code="missing_source")
    assert module_failure_reason(missing) == "missing_source"
    odd: Any = ValueError("x")
    assert module_failure_reason(odd) == "unknown"
    odd.reason_code = "other"
    assert module_failure_reason(odd) == "unknown"
    assert "unknown" in MODULE_FAILURE_REASONS


async def test_a_request_of_this_task_has_an_id() -> None:
    """The one that its events carry."""
    hooks = HookRegistry()
    hooks.register("llm:request", lambda event, data: None)
    seen = await hooks.emit("llm:request", {"provider": "p", "model": "m"})
    assert seen.data["request_id"] == current_request_id()


def test_a_plan_needs_a_session() -> None:
    """And nothing else."""
    assert MountPlanValidator.REQUIRED_SECTIONS == ("session",)
    missing = MountPlanValidator().validate({}).errors
    assert [one.name for one in missing] == ["session"]
