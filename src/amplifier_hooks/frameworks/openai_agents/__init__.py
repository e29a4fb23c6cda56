"""Hooks in front of agents built with the OpenAI Agents SDK.

amplify(agent, "amplifier.yaml"), and then Runner.run(agent, ...) as ever
"""

from amplifier_hooks.coverage import OPENAI_AGENTS, Coverage
from amplifier_hooks.frameworks.openai_agents.messages import PromptDenied
from amplifier_hooks.frameworks.openai_agents.runner import amplify
from amplifier_hooks.frameworks.openai_agents.tools import questions, settle

__all__ = ["PromptDenied", "amplify", "coverage", "questions", "settle"]


def coverage() -> Coverage:
    """What hooks see here, and what their answers can do."""
    return OPENAI_AGENTS
