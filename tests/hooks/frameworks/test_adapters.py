"""What `amplifier_hooks.frameworks` and its adapters offer, and that it costs nothing before."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from importlib.metadata import distributions

import pytest

import amplifier_hooks.frameworks
from amplifier_hooks.coverage import TABLES, Coverage


def is_installed(distribution: str) -> bool:
    """Whether all of a framework is here: others bring half of one along."""
    return any(distributions(name=distribution))


@pytest.mark.parametrize("name", amplifier_hooks.frameworks.__all__)
def test_every_name_is_there(name: str) -> None:
    """Imported when it is asked for."""
    assert callable(getattr(amplifier_hooks.frameworks, name))


def test_another_name_is_an_attribute_error() -> None:
    """As for any module."""
    with pytest.raises(AttributeError, match="no attribute 'goven'"):
        _ = amplifier_hooks.frameworks.goven  # type: ignore[attr-defined]


def test_the_package_alone_imports_no_session() -> None:
    """The tables of what adapters see can be read at once."""
    code = "import amplifier_hooks.frameworks, sys; print('amplifier_core' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("table", TABLES, ids=lambda one: one.name)
def test_an_adapter_offers_its_table_and_what_attaches_it(table: Coverage) -> None:
    """Every name that it promises is there, and one of them is in the line that users copy."""
    if not is_installed(table.package):
        pytest.skip(f"{table.package} is not installed")
    adapter = import_module(table.module)
    assert adapter.coverage() is table
    assert table.unseen
    promised = set(adapter.__all__)
    assert all(getattr(adapter, name) is not None for name in promised)
    assert promised & set(re.findall(r"(\w+)\(", table.attach))
