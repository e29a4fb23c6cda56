"""A plugin for CrewAI's own tests: hooks that let all pass in front of every crew and agent.

Unpack the source distribution of the installed version, and in its folder:
PYTHONPATH=<this folder> python -m pytest -p crewai_plugin tests/hooks tests/test_task.py
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from letting_pass import pytest_terminal_summary as pytest_terminal_summary
from letting_pass import registry

from amplifier_hooks.frameworks import govern
from amplifier_hooks.frameworks.crewai import amplified


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: Any) -> Iterator[None]:
    """Each test in a block: the tests clear the hooks of the whole program."""
    with amplified(govern(registry)):
        return (yield)
