"""Turn a module's options into its config model, or say in one line what is wrong with them."""

from __future__ import annotations

import re
import typing
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from amplifier_core.errors import ModuleLoadError
from amplifier_core.utils.suggest import suggest

M = TypeVar("M", bound=BaseModel)

_SECRET = re.compile(r"key|token|secret|passw", re.IGNORECASE)
_LONGEST_VALUE = 80


def parse_config(model: type[M], config: Mapping[str, Any] | None, owner: str) -> M:
    """Validate `config`; unknown options are errors, with the nearest known one as a hint."""
    if config is None:
        config = {}
    if not isinstance(config, Mapping):
        raise ModuleLoadError(f"{owner}: the config must be a mapping of options, not {config!r}")
    try:
        return model.model_validate(dict(config), extra="forbid")
    except ValidationError as failure:
        faults = (_explain(model, dict(error)) for error in failure.errors(include_url=False))
        raise ModuleLoadError(f"{owner}: {'; '.join(faults)}") from failure


def _explain(model: type[BaseModel], error: dict[str, Any]) -> str:
    location: Sequence[int | str] = error["loc"]
    key = ".".join(map(str, location)) or "config"
    if error["type"] == "missing":
        return f"option {key!r} is required"
    value = _format_value(key, error["input"])
    if error["type"] == "extra_forbidden":
        return f"unknown option {key!r} (value {value}); {_suggest_option(model, location)}"
    return f"option {key!r} cannot be {value}: {' '.join(str(error['msg']).split())}"


def _format_value(key: str, value: object) -> str:
    if _SECRET.search(key):
        return "that is not shown"
    text = repr(value)
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"


def _suggest_option(model: type[BaseModel], location: Sequence[int | str]) -> str:
    known = {name for owner in _find_owners(model, location[:-1]) for name in _list_names(owner)}
    return suggest(str(location[-1]), known)


def _list_names(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


def _find_owners(model: type[BaseModel], location: Sequence[int | str]) -> list[type[BaseModel]]:
    """The models that the unknown option may have been meant for."""
    owners = [model]
    for step in location:
        below = [inner for owner in owners for inner in _find_models_at(owner, step)]
        owners = below or owners
    return owners


def _find_models_at(model: type[BaseModel], step: int | str) -> list[type[BaseModel]]:
    for name, field in model.model_fields.items():
        if step in {name, field.alias}:
            return list(_find_models_in(field.annotation))
    return []


def _find_models_in(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in typing.get_args(annotation):
        yield from _find_models_in(argument)
