"""What the inputs of our own tools have in them, for telling what no call of theirs can have."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from pydantic import BaseModel

from amplifier_foundation.rule_checks.globs import is_literal


@cache
def list_tool_inputs() -> dict[str, frozenset[str]]:
    """The keys that each tool of ours knows, at any depth; by its name in small letters."""
    from amplifier_foundation.tools.bash import Bash
    from amplifier_foundation.tools.delegate import Delegate
    from amplifier_foundation.tools.filesystem.edit import Edit, MultiEdit
    from amplifier_foundation.tools.filesystem.read import Read
    from amplifier_foundation.tools.filesystem.write import Write
    from amplifier_foundation.tools.search.glob import Glob
    from amplifier_foundation.tools.search.grep import Grep
    from amplifier_foundation.tools.todo import Todo

    tools = (Bash, Delegate, Edit, MultiEdit, Read, Write, Glob, Grep, Todo)
    return {tool.name.casefold(): _list_keys(tool.input_model) for tool in tools}


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
