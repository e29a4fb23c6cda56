"""Turn a module's options into its config model, or say in one line what is wrong with them.

Guards refuse options that they do not know: one that is misspelt could be what makes them guard.
Other modules ignore such options and say so, because plans are also written for other modules of
the same id, and for newer versions.
"""

from __future__ import annotations

import logging
import re
import typing
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from amplifier_core.errors import ModuleLoadError
from amplifier_core.interfaces import Host
from amplifier_core.utils.text import suggest

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def check_known(value: list[str], known: Collection[str], noun: str) -> list[str]:
    """The names; ValueError for one that nobody knows, with the closest that is known."""
    for name in value:
        if name not in known:
            raise ValueError(f"there is no {noun} {name!r}; {suggest(name, known)}")
    return value


def check_pattern_names(value: Mapping[str, str]) -> None:
    """ValueError if a pattern has a name that could not stand in a replacement."""
    for name in value:
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is not a name; use letters, digits, '-', '_' and '.'")


M = TypeVar("M", bound=BaseModel)

logger = logging.getLogger(__name__)

_SECRET = re.compile(r"key|token|secret|passw", re.IGNORECASE)
_LONGEST_VALUE = 80


def parse_config(model: type[M], config: Mapping[str, Any] | None, owner: str) -> M:
    """Validate `config`; unknown options are errors, with the nearest known one as a hint."""
    given = _read_mapping(config, owner)
    try:
        return model.model_validate(given, extra="forbid")
    except ValidationError as failure:
        errors = failure.errors(include_url=False)
        faults = (_explain(model, dict(error)) for error in errors)
        wrong = ModuleLoadError(f"{owner}: {'; '.join(faults)}")
        wrong.option = tuple(errors[0]["loc"])
        raise wrong from failure


async def parse_known(
    host: Host,
    model: type[M],
    config: Mapping[str, Any] | None,
    owner: str,
    synonyms: Mapping[str, str] | None = None,
) -> M:
    """Validate the options that the module knows; the others are ignored, and the person is told.

    `synonyms` are names that modules of the ecosystem have for options of ours.
    """
    given = _read_mapping(config, owner)
    doubled = list(_rename(given, synonyms or {}))
    for remark in [*doubled, *_drop_unknown(given, _list_names(model))]:
        await _show_remark(host, f"{owner}: {remark}", owner)
    return parse_config(model, given, owner)


def _rename(given: dict[str, Any], synonyms: Mapping[str, str]) -> Iterator[str]:
    """Give options our names for them; yields what to say of those that are given twice."""
    for name in [one for one in given if one in synonyms]:
        own = synonyms[name]
        value = given.pop(name)
        if own in given:
            yield f"option {name!r} is ignored, because {own!r} means the same and is given too"
        else:
            given[own] = value


def _drop_unknown(given: dict[str, Any], known: Sequence[str]) -> Iterator[str]:
    """Take out the options that are not known; yields what to say of each."""
    for name in [one for one in given if isinstance(one, str) and one not in known]:
        del given[name]  # its value is not shown: a misspelt name does not tell that it is a key
        yield f"unknown option {name!r} is ignored; {suggest(name, known)}"


async def _show_remark(host: Host, remark: str, owner: str) -> None:
    """Show the person a remark; that of a sub-agent's module has been shown for its parent."""
    show = getattr(host, "show", None)  # a coordinator of the ecosystem has none
    if show is None or host.parent_id is not None:
        logger.warning("%s", remark)
    else:
        await show(remark, "warning", owner)


def _read_mapping(config: Mapping[str, Any] | None, owner: str) -> dict[str, Any]:
    if config is None:
        return {}
    if not isinstance(config, Mapping):
        raise ModuleLoadError(f"{owner}: the config must be a mapping of options, not {config!r}")
    return dict(config)


def _explain(model: type[BaseModel], error: dict[str, Any]) -> str:
    location: Sequence[int | str] = error["loc"]
    said = " ".join(str(error["msg"]).split()).removeprefix("Value error, ")
    if not location:  # of all of them together
        return said
    key = ".".join(map(str, location))
    if error["type"] == "missing":
        return f"option {key!r} is required"
    value = _format_value(key, error["input"])
    if error["type"] == "extra_forbidden":
        return f"unknown option {key!r} (value {value}); {_suggest_option(model, location)}"
    return f"option {key!r} cannot be {value}: {said}"


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
