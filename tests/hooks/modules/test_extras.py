"""Optional dependencies."""

from __future__ import annotations

import json
import sys

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.modules.extras import require
from amplifier_hooks.modules.installation import name_install_command


def test_a_package_that_is_there_is_imported() -> None:
    """The caller gets the module itself."""
    assert require("json", "hooks-x") is json


@pytest.mark.parametrize(("arguments", "extra"), [({}, "policy"), ({"extra": "otel"}, "otel")])
def test_a_missing_package_is_named_with_its_owner_and_extra(
    arguments: dict[str, str], extra: str
) -> None:
    """The error has the command that installs it."""
    with pytest.raises(ModuleLoadError) as refused:
        require("no_such_package", "hooks-x", **arguments)
    message = str(refused.value)
    assert message.startswith("hooks-x needs the package 'no_such_package'")
    assert message.endswith(f"install it with: {name_install_command(extra)}")


def test_a_package_that_is_broken_counts_as_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python marks an import that must fail with None."""
    monkeypatch.setitem(sys.modules, "broken_package", None)
    with pytest.raises(ModuleLoadError, match="cannot be imported"):
        require("broken_package", "hooks-x")
