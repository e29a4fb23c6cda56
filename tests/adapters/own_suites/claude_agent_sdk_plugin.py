"""A plugin for the SDK's own tests: all options have our hooks, which let everything pass.

Unpack the source distribution of the installed version, and in its folder:
PYTHONPATH=<this folder> python -m pytest -p claude_agent_sdk_plugin -k "not trio" tests
"""

from __future__ import annotations

import functools
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions
from letting_pass import pytest_terminal_summary as pytest_terminal_summary
from letting_pass import registry

from amplifier_hooks.frameworks import govern
from amplifier_hooks.frameworks.claude_agent_sdk import amplifier_hooks

make_options: Any = ClaudeAgentOptions.__init__


@functools.wraps(make_options)
def make_governed_options(self: Any, *args: Any, **kwargs: Any) -> None:
    """The options that the test wants, with our hooks beside its own."""
    make_options(self, *args, **kwargs)
    hooks = {**amplifier_hooks(govern(registry))}
    for matchers in hooks.values():
        for one in matchers:
            # What the tests have in the place of the program does not know it, and the SDK refuses
            # to connect to such a program.
            one.on_failure = None
    for event, matchers in (self.hooks or {}).items():
        hooks[event] = [*hooks.get(event, []), *matchers]
    self.hooks = hooks


ClaudeAgentOptions.__init__ = make_governed_options
