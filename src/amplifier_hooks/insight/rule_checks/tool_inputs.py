"""What the inputs of our own tools have in them, for telling what no call of theirs can have."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from functools import cache

from pydantic import BaseModel

from amplifier_hooks.insight.rule_checks.globs import is_literal


@cache
def list_tool_inputs() -> dict[str, frozenset[str]]:
    """The keys that each tool of ours knows, at any depth; by its name in small letters."""
    from amplifier_hooks.agent.tools.bash import Bash
    from amplifier_hooks.agent.tools.delegate import Delegate
    from amplifier_hooks.agent.tools.filesystem.module import Edit, MultiEdit, Read, Write
    from amplifier_hooks.agent.tools.search.module import Glob, Grep
    from amplifier_hooks.agent.tools.todo import Todo

    tools = (Bash, Delegate, Edit, MultiEdit, Read, Write, Glob, Grep, Todo)
    return {tool.name.casefold(): _list_keys(tool.input_model) for tool in tools}


@cache
def list_tool_names() -> frozenset[str]:
    """The tools of ours, and what the coding agents call theirs."""
    from amplifier_hooks.coding_agents.dialects import DIALECTS
    from amplifier_hooks.guards.policy.tool_calls import TOOLS

    theirs = {name for one in DIALECTS.values() for pair in one.tool_names.items() for name in pair}
    return TOOLS | theirs


def explain_unknown(tools: Iterable[str]) -> str:
    """What to say of a tool that no agent is known to have; empty if there is none such."""
    known = {name.casefold(): name for name in sorted(list_tool_names(), reverse=True)}
    for tool in tools:
        if is_literal(tool) and tool.casefold() not in known and not tool.startswith("mcp__"):
            near = get_close_matches(tool.casefold(), known, 1)
            meant = f"; did you mean {known[near[0]]!r}?" if near else ""
            return (
                f"names the tool {tool!r}, which is none of ours nor of a coding agent that we "
                f"know, so it matches calls only if you have such a tool{meant}"
            )
    return ""


def _list_keys(model: type[BaseModel]) -> frozenset[str]:
    schema = model.model_json_schema()
    parts = [schema, *schema.get("$defs", {}).values()]
    return frozenset(key.casefold() for part in parts for key in part.get("properties", {}))


def lack_keys(tools: Iterable[str], keys: Iterable[str]) -> bool:
    """Whether these are tools of ours, none of which has one of the keys in its input."""
    known, wanted = list_tool_inputs(), {key.casefold() for key in keys}
    names = [tool.casefold() for tool in tools]
    return bool(names) and all(
        is_literal(name) and name in known and not known[name] & wanted for name in names
    )
