"""What the reference says of a class: its fields, its methods and its properties."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import sys
import textwrap
from collections.abc import Iterator
from itertools import pairwise
from types import ModuleType
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from scripts.documentation.signatures import write_default, write_signature, write_type

REQUIRED = object()
"""Stands for a field without a default."""


def read_doc(value: Any) -> str:
    """Its own docstring, if it is one of ours; what others wrote about their types is no help."""
    own = getattr(value, "__doc__", None)
    ours = isinstance(value, ModuleType | property) or getattr(value, "__module__", "").startswith(
        "amplifier_"
    )
    return inspect.cleandoc(own) if own and ours else ""


def describe_fields(value: type) -> str:
    """The table of a model or a dataclass; empty for any other class."""
    fields = list(_list_fields(value))
    if not fields:
        return ""
    width = 4 if any(about for *_, about in fields) else 3
    heads = ("field", "type", "default", "")
    rows = [heads[:width], ("---",) * width, *(one[:width] for one in fields)]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _list_fields(value: type) -> Iterator[tuple[str, str, str, str]]:
    if issubclass(value, BaseModel):
        for name, field in value.model_fields.items():
            default = field.get_default(call_default_factory=True)
            missing = default is PydanticUndefined
            yield _write_field(value, name, REQUIRED if missing else default, field.description)
    elif dataclasses.is_dataclass(value):
        meanings = _read_meanings(value)
        for one in dataclasses.fields(value):
            if one.init and not one.name.startswith("_"):
                yield _write_field(value, one.name, _read_default(one), meanings.get(one.name))


def _read_default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return REQUIRED if field.default is dataclasses.MISSING else field.default


def _read_meanings(value: type) -> dict[str, str]:
    """The sentences below the fields, which only the source has."""
    (body,) = ast.parse(textwrap.dedent(inspect.getsource(value))).body
    assert isinstance(body, ast.ClassDef)
    return {
        ast.unparse(field.target): " ".join(str(text.value.value).split())
        for field, text in pairwise(body.body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
    }


def _write_field(
    owner: type, name: str, default: Any, about: str | None
) -> tuple[str, str, str, str]:
    home = next(base for base in owner.__mro__ if name in inspect.get_annotations(base))
    known = vars(sys.modules[home.__module__])
    kind = write_type(inspect.get_annotations(home)[name], known).replace("|", "\\|")
    written = "required" if default is REQUIRED else f"`{write_default(default)}`"
    return f"`{name}`", f"`{kind}`", written, about or ""


def describe_members(value: type, hidden: set[str]) -> Iterator[str]:
    """Methods and properties; a second name of the same function only says so."""
    first: dict[Any, str] = {}
    for name, found in _list_members(value, hidden):
        same = first.setdefault(getattr(_get_function(found), "__code__", found), name)
        if same == name:
            yield _describe_member(name, found)
        else:
            yield f"- `{name}(...)`\n\n    The same as `{same}`.\n"


def _list_members(value: type, hidden: set[str]) -> Iterator[tuple[str, Any]]:
    """What is public in our own classes, in the order of the source."""
    seen = set(hidden)
    for base in value.__mro__:
        if not base.__module__.startswith("amplifier_"):
            continue
        for name, found in vars(base).items():
            public = name == "__call__" or not name.startswith(("_", "model_"))
            if public and name not in seen and _is_member(found):
                seen.add(name)
                yield name, found


def _is_member(found: Any) -> bool:
    return isinstance(found, property) or inspect.isfunction(_get_function(found))


def _get_function(found: Any) -> Any:
    return found.__func__ if isinstance(found, classmethod | staticmethod) else found


def _describe_member(name: str, found: Any) -> str:
    if isinstance(found, property):
        written = f"{name}: {_write_kind(found)}".removesuffix(": ")
    else:
        bound = not isinstance(found, staticmethod)
        lines = write_signature(name, _get_function(found), bound=bound).split()
        written = " ".join(lines).replace("( ", "(").replace(", )", ")")
    doc = textwrap.indent(read_doc(found), "    ")
    return f"- `{written}`\n" + (f"\n{doc}\n" if doc else "")


def _write_kind(found: property) -> str:
    known = vars(sys.modules[found.fget.__module__]) if found.fget else {}
    return write_type(inspect.signature(found.fget).return_annotation, known) if found.fget else ""
