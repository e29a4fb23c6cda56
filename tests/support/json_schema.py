"""A validator for the part of JSON Schema (draft 7) that our schema of bundles uses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
}
REMARKS = frozenset(
    [
        *("$schema", "$defs", "title", "description", "default", "format", "writeOnly"),
        *("uniqueItems", "if", "then"),
    ]
)


class Validator:
    """Finds what is wrong with a value; a keyword that it does not know is an error of the test."""

    def __init__(self, root: dict[str, Any]) -> None:
        self.root = root

    def find_problems(self, value: Any, schema: Any = None, path: str = "") -> Iterator[str]:
        """Each problem with its place."""
        schema = self.root if schema is None else schema
        if isinstance(schema, bool):
            if not schema:
                yield f"{path}: is not expected"
            return
        for keyword, wanted in schema.items():
            if keyword not in REMARKS:
                check = getattr(self, "_check_" + keyword.lstrip("$"))
                yield from check(value, wanted, path, schema)
        if "if" in schema and not any(self.find_problems(value, schema["if"], path)):
            yield from self.find_problems(value, schema["then"], path)

    def accepts(self, value: Any) -> bool:
        """Whether nothing is wrong with it."""
        return not any(self.find_problems(value))

    def _check_ref(self, value: Any, wanted: str, path: str, _: Any) -> Iterator[str]:
        found: Any = self.root
        for step in wanted.removeprefix("#/").split("/"):
            found = found[step]
        yield from self.find_problems(value, found, path)

    def _check_type(self, value: Any, wanted: Any, path: str, _: Any) -> Iterator[str]:
        if not any(TYPES[one](value) for one in ([wanted] if isinstance(wanted, str) else wanted)):
            yield f"{path}: {value!r} is not of type {wanted}"

    def _check_enum(self, value: Any, wanted: Any, path: str, _: Any) -> Iterator[str]:
        if not any(one == value and type(one) is type(value) for one in wanted):
            yield f"{path}: {value!r} is none of {wanted}"

    def _check_const(self, value: Any, wanted: Any, path: str, _: Any) -> Iterator[str]:
        yield from self._check_enum(value, [wanted], path, _)

    def _check_anyOf(self, value: Any, wanted: Any, path: str, _: Any) -> Iterator[str]:  # noqa: N802
        found = [list(self.find_problems(value, one, path)) for one in wanted]
        if all(found):
            yield from max(found, key=lambda problems: max(map(len, problems)))

    def _check_allOf(self, value: Any, wanted: Any, path: str, _: Any) -> Iterator[str]:  # noqa: N802
        for one in wanted:
            yield from self.find_problems(value, one, path)

    def _check_properties(self, value: Any, wanted: Any, path: str, _: Any) -> Iterator[str]:
        for name, schema in wanted.items() if isinstance(value, dict) else ():
            if name in value:
                yield from self.find_problems(value[name], schema, f"{path}.{name}")

    def _check_required(self, value: Any, wanted: Any, path: str, _: Any) -> Iterator[str]:
        if isinstance(value, dict):
            yield from (f"{path}.{name}: is missing" for name in wanted if name not in value)

    def _check_patternProperties(  # noqa: N802
        self, value: Any, wanted: Any, path: str, _: Any
    ) -> Iterator[str]:
        return iter(())

    def _check_additionalProperties(  # noqa: N802
        self, value: Any, wanted: Any, path: str, schema: Any
    ) -> Iterator[str]:
        for name, inner in value.items() if isinstance(value, dict) else ():
            own = any(re.search(one, name) for one in schema.get("patternProperties", ()))
            if name not in schema.get("properties", ()) and not own:
                yield from self.find_problems(inner, wanted, f"{path}.{name}")

    def _check_items(self, value: Any, wanted: Any, path: str, _: Any) -> Iterator[str]:
        for at, one in enumerate(value) if isinstance(value, list) else ():
            schema = wanted[at] if isinstance(wanted, list) else wanted
            yield from self.find_problems(one, schema, f"{path}[{at}]")

    def _check_pattern(self, value: Any, wanted: str, path: str, _: Any) -> Iterator[str]:
        if isinstance(value, str) and not re.search(wanted, value):
            yield f"{path}: {value!r} does not match {wanted}"

    def _check_limit(
        self, value: Any, path: str, kind: str, keeps: Callable[[Any], bool]
    ) -> Iterator[str]:
        if TYPES["number"](value) and not keeps(value):
            yield f"{path}: {value!r} breaks its {kind}"

    def _check_minimum(self, value: Any, wanted: Any, path: str, _: Any) -> Iterator[str]:
        yield from self._check_limit(value, path, "minimum", lambda one: one >= wanted)

    def _check_maximum(self, value: Any, wanted: Any, path: str, _: Any) -> Iterator[str]:
        yield from self._check_limit(value, path, "maximum", lambda one: one <= wanted)

    def _check_exclusiveMinimum(  # noqa: N802
        self, value: Any, wanted: Any, path: str, _: Any
    ) -> Iterator[str]:
        yield from self._check_limit(value, path, "minimum", lambda one: one > wanted)

    def _check_exclusiveMaximum(  # noqa: N802
        self, value: Any, wanted: Any, path: str, _: Any
    ) -> Iterator[str]:
        yield from self._check_limit(value, path, "maximum", lambda one: one < wanted)

    def _check_size(self, value: Any, wanted: int, path: str, _: Any) -> Iterator[str]:
        if isinstance(value, dict | list | str) and len(value) < wanted:
            yield f"{path}: must have at least {wanted}"

    def _check_most(self, value: Any, wanted: int, path: str, _: Any) -> Iterator[str]:
        if isinstance(value, dict | list | str) and len(value) > wanted:
            yield f"{path}: must have at most {wanted}"

    _check_maxLength = _check_maxItems = _check_most  # noqa: N815
    _check_minLength = _check_minItems = _check_minProperties = _check_size  # noqa: N815
