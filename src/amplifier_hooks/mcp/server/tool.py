"""A tool of the server: what it takes, what it answers, and what it says of itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from amplifier_core.errors import AmplifierError


class Refused(AmplifierError):
    """The tool cannot answer this; the message says why, and what would do."""


class Arguments(BaseModel):
    """What a caller gives; what it does not know, and what is of another type, is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Result(BaseModel):
    """What a caller gets."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    summary: str
    """One sentence of ours; nothing in it was written by others."""


Run = Callable[[Any], Awaitable[Result]]


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool; it changes nothing, whatever it is given."""

    name: str
    title: str
    description: str
    arguments: type[Arguments]
    result: type[Result]
    run: Run

    @property
    def input_schema(self) -> dict[str, Any]:
        """The JSON schema of its arguments."""
        return _write_schema(self.arguments.model_json_schema())

    @property
    def output_schema(self) -> dict[str, Any]:
        """The JSON schema of its answer."""
        return _write_schema(self.result.model_json_schema(mode="serialization"))

    async def call(self, arguments: Any) -> Result:
        """Its answer to these arguments; Refused if it has none."""
        try:
            arguments = self.arguments.model_validate({} if arguments is None else arguments)
        except ValidationError as wrong:
            raise Refused(f"{self.name}: {_describe(wrong)}") from wrong
        return await self.run(arguments)


def _write_schema(schema: dict[str, Any]) -> dict[str, Any]:
    return {
        key: _drop_titles(one, names=key == "properties")
        for key, one in schema.items()
        if key not in ("title", "description")
    }


def _drop_titles(value: Any, *, names: bool = False) -> Any:
    """Without the titles that pydantic makes of names; `names`: the keys are those of members."""
    if isinstance(value, list):
        return [_drop_titles(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _drop_titles(one, names=not names and key in ("properties", "$defs"))
        for key, one in value.items()
        if names or key != "title"
    }


def _describe(wrong: ValidationError) -> str:
    """Which argument is wrong, and why; what was given for it is not repeated."""
    told = []
    for error in wrong.errors(include_url=False, include_input=False)[:5]:
        place = ".".join(str(part)[:60] for part in error["loc"]) or "arguments"
        told.append(f"{place}: {error['msg']}")
    return "; ".join(told)
