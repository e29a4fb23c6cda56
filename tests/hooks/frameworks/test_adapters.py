"""What `amplifier_hooks.frameworks` offers, and that it costs nothing until it is used."""

from __future__ import annotations

import subprocess
import sys

import pytest

import amplifier_hooks.frameworks


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
