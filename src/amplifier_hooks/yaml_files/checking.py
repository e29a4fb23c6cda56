"""Checking a document against a pydantic model: a sentence for each mistake, with its place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from amplifier_core.utils.text import find_closest, suggest
from amplifier_hooks.yaml_files.node import Node, Problem, to_plain

OWN_USE = "x-"
"""How keys at the top of a document begin that are for the author's own use."""

Location = tuple[str | int, ...]

_KINDS = {
    "string_type": "a text",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "float_type": "a number of seconds",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
}


def name_key(location: Location) -> str:
    """The way to a value as messages write it: `hooks[0].config`."""
    key = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in location)
    return key.removeprefix(".")


def find_mistakes(
    document: Node, model: type[BaseModel], name: Callable[[Location], str] = name_key
) -> Iterator[Problem]:
    """What is wrong with a document, in the order in which it is written.

    A problem that stands in place of a value is left out: a layer above may still replace it.
    `name` says what messages call the way to a value.
    """
    own = [key for key in document.mapping() if key.startswith(OWN_USE)]
    document = document.without(*own) if own else document
    try:
        model.model_validate(to_plain(document), context=Problem)
    except ValidationError as error:
        found = error.errors(include_url=False)
        for one in sorted(found, key=lambda one: _rank(document, one["loc"])):
            yield from _describe(document, model, one, name)


def _describe(
    document: Node, model: type[BaseModel], error: ErrorDetails, name: Callable[[Location], str]
) -> Iterator[Problem]:
    location = error["loc"][:-1] if error["loc"][-1:] == ("[key]",) else error["loc"]
    above = location[:-1]
    key = str(location[-1]) if location else ""
    if error["type"] == "missing":
        node = _find_node(document, above)
        known = _find_model(model, above).model_fields
        misspelt = {find_closest(one, known) for one in node.mapping().keys() - known.keys()}
        # A misspelt key is reported already, and the right one is missing because of it.
        if key not in misspelt:
            message = f"is missing; {name(above) or 'the file'} needs it"
            yield Problem(node.place, name(location), message)
        return
    node = _find_node(document, location)
    if error["type"] == "extra_forbidden":
        known = _find_model(model, above).model_fields
        message = f"unknown key {key!r}; {suggest(key, known)}"
        yield Problem(node.place, name(location), message)
    elif not isinstance(node.value, Problem):
        yield Problem(node.place, name(location), _explain(node, error))


def _explain(node: Node, error: ErrorDetails) -> str:
    """What would do in place of a value."""
    kind = error["type"]
    context = error.get("ctx") or {}
    if kind == "literal_error":
        options = re.findall("'([^']*)'", context["expected"])
        if isinstance(node.value, str):
            return f"unknown value {node.value!r}; {suggest(node.value, options)}"
        return refuse_kind(node, f"one of {', '.join(options)}")
    if kind == "greater_than_equal":
        return f"must be at least {context['ge']}, got {node.value}"
    if kind in ("greater_than", "finite_number"):
        return f"must be positive and finite, got {node.value}"
    if kind == "too_short":
        return "must not be empty"
    if kind == "expected":
        return refuse_kind(node, context["expected"])
    return refuse_kind(node, _KINDS[kind]) if kind in _KINDS else error["msg"]


def refuse_kind(node: Node, expected: str) -> str:
    """The sentence on a value of the wrong kind; lists and mappings are named, not written out."""
    value = node.value
    text = "" if isinstance(value, dict | tuple) or value is None else f" {value!r}"
    return f"must be {expected}, got {node.kind}{text}"


def _find_node(document: Node, location: Location) -> Node:
    for step in location:
        document = document.items()[step] if isinstance(step, int) else document.mapping()[step]
    return document


def _rank(document: Node, location: Location) -> tuple[int, ...]:
    """Where something is written among everything else; what is missing comes last."""
    rank = []
    for step in location:
        names = list(document.mapping())
        if isinstance(step, int):
            rank.append(step)
            document = document.items()[step]
        elif step in names:
            rank.append(names.index(step))
            document = document.mapping()[step]
        else:
            rank.append(len(names))
    return tuple(rank)


def _find_model(model: type[BaseModel], location: Location) -> type[BaseModel]:
    """The model of the mapping at a location."""
    kind: Any = model
    for step in location:
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            kind = _unwrap(kind.model_fields[str(step)].annotation)
        else:
            kind = _unwrap(get_args(kind)[-1])
    found: type[BaseModel] = kind
    return found


def _unwrap(kind: Any) -> Any:
    """A type without what is said about it, and without None."""
    while get_origin(kind) in (Annotated, Union, UnionType):
        kind = next(one for one in get_args(kind) if one is not NoneType)
    return kind
