"""The JSON schema of an input model, plain enough for every model API."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

_DROPPED = frozenset({"title", "$ref", "anyOf"})


def build_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Without references, titles and nullable unions, which some servers do not take."""
    schema = model.model_json_schema(by_alias=True)
    definitions = schema.pop("$defs", {})
    return {**_simplify_object(schema, definitions), "additionalProperties": False}


def _simplify(node: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_simplify(item, definitions) for item in node]
    return _simplify_object(node, definitions) if isinstance(node, dict) else node


def _simplify_object(node: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    return {
        key: _simplify_properties(value, definitions)
        if key == "properties"
        else _simplify(value, definitions)
        for key, value in _resolve(node, definitions).items()
        if key not in _DROPPED and not _is_null_default(key, value)
    }


def _simplify_properties(properties: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """Here the keys are names, also one called `title`."""
    return {name: _simplify(value, definitions) for name, value in properties.items()}


def _resolve(node: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """With what a reference or the one real option of a union stands for; own keys win."""
    if "$ref" in node:
        node = {**definitions[node["$ref"].rpartition("/")[2]], **node}
    if "anyOf" in node:
        option = next(one for one in node["anyOf"] if one.get("type") != "null")
        node = {**option, **node}
    return node


def _is_null_default(key: str, value: Any) -> bool:
    """A default of null would not be valid once the union with null is gone."""
    return key == "default" and value is None
