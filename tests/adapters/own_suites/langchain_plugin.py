"""A plugin for LangChain's own tests: every agent gets our middleware; its hooks let all pass.

Unpack the source distribution of the installed version, and in its folder:
PYTHONPATH=<this folder> python -m pytest -p langchain_plugin tests/unit_tests/agents
"""

from __future__ import annotations

import functools
from typing import Any

import langchain.agents
import langchain.agents.factory
from letting_pass import pytest_terminal_summary as pytest_terminal_summary
from letting_pass import registry

from amplifier_hooks.frameworks import govern
from amplifier_hooks.frameworks.langchain import AmplifierMiddleware

create_agent: Any = langchain.agents.factory.create_agent


@functools.wraps(create_agent)
def create_governed_agent(*args: Any, middleware: Any = (), **kwargs: Any) -> Any:
    """The agent that the test wants, with one more middleware at the end."""
    ours = AmplifierMiddleware(govern(registry))
    return create_agent(*args, middleware=[*middleware, ours], **kwargs)


langchain.agents.factory.create_agent = create_governed_agent
langchain.agents.create_agent = create_governed_agent
