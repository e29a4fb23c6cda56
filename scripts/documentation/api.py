"""The API reference: pages of Markdown made of signatures, fields and docstrings."""

from __future__ import annotations

import ast
import enum
import inspect
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from scripts.documentation.api_classes import describe_fields, describe_members, read_doc
from scripts.documentation.api_names import PAGES, ApiPage
from scripts.documentation.signatures import write_signature

ROOT = Path(__file__).resolve().parents[2]
HEAD = "<!-- Written by scripts/reference: edit the docstrings in the source, and run it. -->\n"
INTRODUCTION = """\
# API reference

Every name that a program may import, generated from the source. What is not here may change
without notice. For events and their fields, see [Events](../events.md).
"""


def write_pages() -> dict[str, str]:
    """Every page of the reference, by its file name."""
    return {"index.md": write_index(), **{page.file: write_page(page) for page in PAGES}}


def write_index() -> str:
    """All names, with the first sentence about each."""
    parts = [HEAD, INTRODUCTION]
    for page in PAGES:
        rows = [_write_row(page, module, name) for module, name in page.list_names()]
        table = "| name | |\n|---|---|\n" + "".join(rows)
        parts.append(f"\n## {page.title}\n\n{page.about}\n\n{table}")
    return "".join(parts)


def _write_row(page: ApiPage, module: str, name: str) -> str:
    anchor = "errors" if _is_error(_load(module, name)) else name.lower()
    return f"| [`{name}`]({page.file}#{anchor}) | {summarize(module, name)} |\n"


def summarize(module: str, name: str) -> str:
    """The first paragraph of the docstring, for a cell."""
    value = _load(module, name)
    text = " ".join(read_doc(value).partition("\n\n")[0].split())
    return (text or f"`{_write_alias(name, value)}`").replace("|", "\\|")


def write_page(page: ApiPage) -> str:
    """Sections for most names, one table for the errors."""
    names = page.list_names()
    errors = [one for one in names if _is_error(_load(*one))]
    parts = [f"# {page.title}\n\n{page.about}\n"]
    parts += [write_section(*one) for one in names if one not in errors]
    if errors:
        parts.append(write_errors(errors))
    return HEAD + "\n".join(parts)


def write_errors(names: list[tuple[str, str]]) -> str:
    """What each one means, and what it is a kind of."""
    rows = [
        f"| `{name}` | {_list_bases(_load(module, name))} | {summarize(module, name)} |\n"
        for module, name in names
    ]
    modules = " and ".join(f"`{one}`" for one in dict.fromkeys(module for module, _ in names))
    table = "| error | is a | when |\n|---|---|---|\n" + "".join(rows)
    return f"## Errors\n\nTo be imported from {modules}.\n\n{table}"


def _list_bases(value: type) -> str:
    return ", ".join(f"`{base.__name__}`" for base in value.__bases__)


def write_section(module: str, name: str) -> str:
    """One name: where to import it from, what it is, what it has."""
    value = _load(module, name)
    parts = [f"## {name}\n", f"`from {module} import {name}`{_link_source(value)}\n"]
    if doc := read_doc(value):
        parts.append(doc + "\n")
    parts += _describe(name, value)
    return "\n".join(parts)


def _describe(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, ModuleType):
        texts = {one: found for one, found in vars(value).items() if one.isupper()}
        rows = [f"| `{one}` | `{text!r}` |\n" for one, text in texts.items()]
        yield "| name | value |\n|---|---|\n" + "".join(rows)
    elif inspect.isfunction(value):
        yield f"```py\n{write_signature(name, value)}\n```\n"
    elif not inspect.isclass(value):
        yield f"```py\n{name} = {_write_alias(name, value)}\n```\n"
    elif issubclass(value, enum.Enum):
        yield "".join(f"- `{one.name}` is `{one.value!r}`\n" for one in value)
    else:
        yield from _describe_class(name, value)


def _describe_class(name: str, value: type) -> Iterator[str]:
    fields, make = describe_fields(value), vars(value).get("__init__")
    if fields:
        yield fields
    elif inspect.isfunction(make) and not getattr(value, "_is_protocol", False):
        yield f"```py\n{write_signature(name, make, bound=True)}\n```\n"
    known = [base for base in value.__mro__[1:] if _find_page(base)]
    if known:
        title = known[0].__name__
        yield f"It has all that [{title}]({_find_page(known[0])}#{title.lower()}) has.\n"
    yield from describe_members(value, hidden={one for base in known for one in vars(base)})


def _load(module: str, name: str) -> Any:
    return getattr(import_module(module), name)


def _is_error(value: Any) -> bool:
    return inspect.isclass(value) and issubclass(value, BaseException)


def _write_alias(name: str, value: Any) -> str:
    """What the source assigns to it: Python's own spelling of types changes with its version."""
    for module in [one for one in sys.modules.values() if vars(one).get(name) is value]:
        file = getattr(module, "__file__", None) or ""
        tree = ast.parse(Path(file).read_text(encoding="utf-8") if file.endswith(".py") else "")
        for node in tree.body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
                return ast.unparse(node.value)
    raise LookupError(f"no module of {name} assigns it")


@cache
def _find_page(value: type) -> str:
    for page in PAGES:
        if any(_load(module, name) is value for module, name in page.list_names()):
            return page.file
    return ""


def _link_source(value: Any) -> str:
    try:
        file = inspect.getsourcefile(value)
    except TypeError:
        return ""
    return f" · [source](../../{Path(file).relative_to(ROOT).as_posix()})" if file else ""
