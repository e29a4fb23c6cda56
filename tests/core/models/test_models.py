"""The face of the values: all of them under one roof, loaded when they are asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

from amplifier_core import models

HOMES = {
    "HookResult": "models.hook_result",
    "ContextInjection": "models.hook_result",
    "ToolResult": "models.tool_result",
    "ModelInfo": "models.provider_info",
    "Pricing": "models.provider_info",
    "ConfigField": "models.provider_info",
    "ProviderInfo": "models.provider_info",
    "ModuleInfo": "models.module_info",
    "SessionStatus": "models.session_status",
    "ApprovalRequest": "models.approval",
    "ApprovalResponse": "models.approval",
    "Message": "message_models",
    "ToolCall": "message_models",
}


@pytest.mark.parametrize("name", HOMES)
def test_each_value_is_found_at_the_face(name: str) -> None:
    """Authors need not know which file it lives in."""
    found = getattr(models, name)
    assert (found.__name__, found.__module__) == (name, f"amplifier_core.{HOMES[name]}")


def test_all_that_is_promised_is_there() -> None:
    """Every name of `__all__` can be imported, and what is lazy is among them."""
    assert all(hasattr(models, name) for name in models.__all__)
    assert set(HOMES) <= set(models.__all__)


def test_what_is_not_there_is_said_so() -> None:
    """As every module says it."""
    with pytest.raises(AttributeError, match="has no attribute 'Nope'"):
        models.Nope  # type: ignore[attr-defined]  # noqa: B018


def test_a_registry_loads_results_of_hooks_only() -> None:
    """A process that only routes events starts without the models of messages."""
    program = (
        "import sys, amplifier_core.hooks;"
        "print([one for one in ('message_models', 'models.tool_result', 'models.provider_info')"
        " if 'amplifier_core.' + one in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
