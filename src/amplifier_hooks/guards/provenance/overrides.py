"""What a bundle says of tools that their names do not tell: who writes, and what a call does."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

Act = Literal["read", "change", "send", "pay", "share", "delete"]
Kind = Literal["destination", "target", "content", "amount", "secret", "right", "plain"]
"""What an argument decides; `plain` is nothing."""
Label = Literal["open", "mail", "chat", "own"]
_Row = TypeVar("_Row")


class Sink(BaseModel):
    """A row of the table: what a tool does, and what its arguments decide."""

    model_config = ConfigDict(extra="forbid")

    act: Act | None = None
    arguments: dict[str, Kind] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _read_an_act_alone(cls, given: Any) -> Any:
        return {"act": given} if isinstance(given, str) else given


class Overrides:
    """The two tables, by name of a tool or by pattern; the name itself wins, then the first row."""

    def __init__(
        self,
        labels: Mapping[str, Label] | None = None,
        sinks: Mapping[str, Sink] | None = None,
    ) -> None:
        self._labels = {tool.casefold(): label for tool, label in (labels or {}).items()}
        self._sinks = {tool.casefold(): row for tool, row in (sinks or {}).items()}

    def find_label(self, tool: str) -> Label | None:
        """Who could have written what a tool returns."""
        return _find(self._labels, tool)

    def find_act(self, tool: str) -> Act | None:
        """What a tool does."""
        row = _find(self._sinks, tool)
        return row.act if row is not None else None

    def list_kinds(self, tool: str) -> Mapping[str, Kind]:
        """What the arguments of a tool decide, by their keys."""
        row = _find(self._sinks, tool)
        return row.arguments if row is not None else {}


def _find(rows: Mapping[str, _Row], tool: str) -> _Row | None:
    name = tool.casefold()
    if name in rows:
        return rows[name]
    return next((row for pattern, row in rows.items() if fnmatchcase(name, pattern)), None)
