"""The tests that authors of modules inherit, run over every module that this package ships."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_core.loader import ModuleLoader
from amplifier_core.validation import behavioral, structural
from tests.contracts.test_modules import NEEDED

KNOWN = sorted(ModuleLoader().known())
NEED_A_SERVER = ("provider-anthropic", "provider-openai", "provider-local")
"""They ask somebody else which models there are."""


def of(prefix: str, *without: str) -> list[str]:
    """The modules of one kind."""
    return [one for one in KNOWN if one.startswith(prefix) and one not in without]


class Shipped:
    """Chooses the module as a project would: by overriding two fixtures."""

    @pytest.fixture
    def module_path(self, shipped: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
        monkeypatch.chdir(tmp_path)
        return shipped

    @pytest.fixture
    def module_config(self, shipped: str) -> dict[str, Any]:
        return NEEDED.get(shipped, {})


@pytest.mark.parametrize("shipped", of("hooks-"))
class TestHooks(Shipped, behavioral.HookBehaviorTests, structural.HookStructuralTests):
    """Every hook module lets events pass and can be undone."""


@pytest.mark.parametrize("shipped", of("tool-"))
class TestTools(Shipped, behavioral.ToolBehaviorTests, structural.ToolStructuralTests):
    """Every tool answers calls that lack every argument."""


@pytest.mark.parametrize("shipped", of("provider-", *NEED_A_SERVER))
class TestProviders(Shipped, behavioral.ProviderBehaviorTests, structural.ProviderStructuralTests):
    """Every provider introduces itself and reads responses."""


@pytest.mark.parametrize("shipped", of("context-"))
class TestContexts(Shipped, behavioral.ContextBehaviorTests, structural.ContextStructuralTests):
    """Every context keeps what it is given."""


@pytest.mark.parametrize("shipped", of("loop-"))
class TestLoops(
    Shipped, behavioral.OrchestratorBehaviorTests, structural.OrchestratorStructuralTests
):
    """Every loop plays a turn without a coordinator."""
