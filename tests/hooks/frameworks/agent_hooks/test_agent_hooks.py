"""What the package offers."""

from __future__ import annotations

import pytest

pytest.importorskip("agent_hooks")

from amplifier_hooks.coverage import AGENT_HOOKS
from amplifier_hooks.frameworks import agent_hooks


def test_the_package_says_what_it_sees() -> None:
    """The table that docs and doctor show."""
    assert agent_hooks.coverage() is AGENT_HOOKS
    assert AGENT_HOOKS.module == agent_hooks.__name__


def test_the_line_in_the_table_names_what_the_package_has() -> None:
    """A reader can import it, and everything else that is offered."""
    assert all(hasattr(agent_hooks, name) for name in agent_hooks.__all__)
    assert "AmplifierInterceptor(" in AGENT_HOOKS.attach
    assert "AmplifierInterceptor" in agent_hooks.__all__
