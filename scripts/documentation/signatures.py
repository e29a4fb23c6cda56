"""How the reference writes signatures, types and defaults: as they stand in the source.

Annotations are kept as text, so a page is the same with every version of Python.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable
from typing import Any, Literal, get_args, get_origin

WIDTH = 88
FEW = 6
_STARS = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**"}
_NAME = re.compile(r"\b[A-Z]\w*\b")


def write_signature(name: str, function: Callable[..., Any], *, bound: bool = False) -> str:
    """`async name(a: int = 1) -> str`, on several lines if it is long."""
    signature = inspect.signature(function)
    given = list(signature.parameters.values())[1 if bound else 0 :]
    parts = _mark_kinds(given, sys.modules[function.__module__].__dict__)
    returned = write_type(signature.return_annotation, sys.modules[function.__module__].__dict__)
    end = f" -> {returned}" if returned and returned != "None" else ""
    start = ("async " if inspect.iscoroutinefunction(function) else "") + name
    line = f"{start}({', '.join(parts)}){end}"
    if len(line) <= WIDTH:
        return line
    return f"{start}(\n" + "".join(f"    {part},\n" for part in parts) + f"){end}"


def _mark_kinds(given: list[inspect.Parameter], known: dict[str, Any]) -> list[str]:
    """The parameters with the lone star and slash that belong between them."""
    parts: list[str] = []
    for before, one in zip([None, *given], given, strict=False):
        kind, last = one.kind, before.kind if before else None
        if last is inspect.Parameter.POSITIONAL_ONLY and kind is not last:
            parts.append("/")
        keyword = inspect.Parameter.KEYWORD_ONLY
        if kind is keyword and last not in {keyword, inspect.Parameter.VAR_POSITIONAL}:
            parts.append("*")
        parts.append(_write_parameter(one, known))
    if given and given[-1].kind is inspect.Parameter.POSITIONAL_ONLY:
        parts.append("/")
    return parts


def _write_parameter(one: inspect.Parameter, known: dict[str, Any]) -> str:
    kind = write_type(one.annotation, known)
    text = _STARS.get(one.kind.name, "") + one.name + (f": {kind}" if kind else "")
    if one.default is inspect.Parameter.empty:
        return text
    equals = " = " if kind else "="
    return f"{text}{equals}{write_default(one.default)}"


def write_type(annotation: Any, known: dict[str, Any]) -> str:
    """As in the source, with the choices of a short `Literal` instead of its name."""
    if annotation is inspect.Parameter.empty:
        return ""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)

    def spell(name: re.Match[str]) -> str:
        value = known.get(name[0])
        choices = get_args(value) if get_origin(value) is Literal else ()
        return " | ".join(map(repr, choices)) if 0 < len(choices) <= FEW else name[0]

    return _NAME.sub(spell, text.replace('"', "'"))


def write_default(value: Any) -> str:
    """What can be typed in again, else dots."""
    if value is None or isinstance(value, bool | int | float | str | bytes):
        return repr(value)
    if isinstance(value, tuple | list | dict | set | frozenset) and len(value) < 5:
        return repr(value) if "object at" not in repr(value) else "..."
    return "..."
