"""Names that are public in the existing implementation, at the paths they have there."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from amplifier_core import AmplifierSession, HookRegistry
from amplifier_core.correlation import current_request_id
from amplifier_core.errors import ModuleLoadError, ModuleNotFound
from amplifier_core.loader import MODULE_FAILURE_REASONS, module_failure_reason
from amplifier_core.message_models import ImageBlock, TextBlock
from amplifier_core.models import ToolResult
from amplifier_core.only_kernel import refuse_foreign_files
from amplifier_core.validation.base import import_module_from_path
from amplifier_core.validation.mount_plan import MountPlanValidator

NAMES = {
    "utils": "RetryConfig retry_with_backoff classify_error_message redact_secrets truncate_values",
    "display": "DisplaySystem",
    "message_models": "ContentBlockUnion",
    "validation.base": "import_module_from_path",
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


def test_a_module_is_imported_from_its_path(tmp_path: Path) -> None:
    """A file, or the folder of a package; what is not there is said so."""
    file = tmp_path / "one.py"
    file.write_text("NAME = 'file'\n")
    package = tmp_path / "amplifier_module_two"
    package.mkdir()
    (package / "__init__.py").write_text("NAME = 'package'\n")
    assert import_module_from_path(file).NAME == "file"
    assert import_module_from_path(str(package)).NAME == "package"
    with pytest.raises(ModuleNotFound, match="there is no file or folder"):
        import_module_from_path(tmp_path / "three.py")


def test_a_result_is_presented_to_hooks_without_its_images() -> None:
    """Text stays, and of an image there is its kind."""
    image = ImageBlock(source={"type": "base64", "media_type": "image/png", "data": "QUJD"})
    result = ToolResult(output="seen", content=[TextBlock(text="a chart"), image])
    presented = result.safe_hook_presentation()
    assert presented["output"] == "seen"
    assert presented["content"][0] == TextBlock(text="a chart").model_dump()
    assert presented["content"][1]["type"] == "text"
    assert "image/png" in presented["content"][1]["text"]
    assert "QUJD" not in str(presented)
    assert "content" not in ToolResult(output="seen").safe_hook_presentation()
    linked = ToolResult(content=[ImageBlock(source={"url": "https://x.test/a.png"})])
    assert "of unknown type" in linked.safe_hook_presentation()["content"][0]["text"]
