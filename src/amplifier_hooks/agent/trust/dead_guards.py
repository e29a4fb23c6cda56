"""Guards on events that will never come, found in files that have not been run."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from amplifier_core.event_names import find_problem
from amplifier_hooks.agent.trust.material import Material


def find_dead_guards(material: Material) -> list[str]:
    """Each with its place, and our name for what was probably meant.

    What a file computes cannot be seen here; that is refused when the guard is registered.
    """
    found = [*_find_in_rules(material)]
    for name, content in material.files.items():
        if name.endswith(".py"):
            found += _find_in_python(name, content)
    return found


def _find_in_rules(material: Material) -> Iterator[str]:
    for entry in material.hooks:
        rules = entry.config.get("rules") if entry.module == "hooks-rules" else None
        for rule in rules if isinstance(rules, list) else ():
            events = rule.get("event") if isinstance(rule, dict) else None
            for event in events if isinstance(events, list) else [events]:
                if isinstance(event, str) and (problem := find_problem(event)):
                    yield f"rule {rule.get('name')!r}: {problem}"


def _find_in_python(name: str, content: bytes) -> Iterator[str]:
    try:
        calls = [one for one in ast.walk(ast.parse(content)) if isinstance(one, ast.Call)]
    except (SyntaxError, ValueError, RecursionError):
        return  # it does not load either, which is said there
    declared = {text for call in calls if _name(call) == "declare" for text in _list_texts(call)}
    for call in calls:
        if _name(call) in ("hook", "register", "on") and _is_guard(call):
            texts = _list_texts(call) if _name(call) == "hook" else _list_texts(call)[:1]
            for event in texts:
                if event not in declared and (problem := find_problem(event)):
                    yield f"{name}:{call.lineno}: {problem}"


def _name(call: ast.Call) -> str:
    return str(getattr(call.func, "attr", None) or getattr(call.func, "id", ""))


def _list_texts(call: ast.Call) -> list[str]:
    given = (one.value for one in call.args if isinstance(one, ast.Constant))
    return [one for one in given if isinstance(one, str) and one.strip()]


def _is_guard(call: ast.Call) -> bool:
    values = [one.value for one in call.keywords if one.arg == "on_error"]
    return any(isinstance(one, ast.Constant) and one.value == "deny" for one in values)
