"""Base class of our tools: a name, a description, a validated input, an answer in words."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel

from amplifier_core.errors import ModuleLoadError
from amplifier_core.events import DataT, EventOf
from amplifier_core.interfaces import Cleanup, Host, Tool
from amplifier_core.models import ToolResult
from amplifier_hooks.modules.options import parse_config

_DROPPED = frozenset({"title", "$ref", "anyOf"})


def build_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Without references, titles and nullable unions, which some servers do not take."""
    return copy.deepcopy(_build_once(model))


@lru_cache(maxsize=64)
def _build_once(model: type[BaseModel]) -> dict[str, Any]:
    """A model says the same each time, and every request to a model of an agent has its schema."""
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


InputT = TypeVar("InputT", bound=BaseModel)


class Refused(Exception):
    """The input asks for something that cannot be done; the message is the agent's sentence."""


class InputTool(Generic[InputT]):
    """A tool whose input is a pydantic model. Ordinary mistakes are answers, not exceptions."""

    name: ClassVar[str]
    description: str
    input_model: ClassVar[type[BaseModel]]

    @property
    def input_schema(self) -> dict[str, Any]:
        """The JSON schema of the input."""
        return build_schema(self.input_model)

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        """Validate the input and run; what cannot be done is said in the result."""
        try:
            given: Any = parse_config(self.input_model, input, self.name)
            return await self.run(given)
        except (Refused, ModuleLoadError) as refusal:
            return ToolResult.failed(str(refusal))
        except OSError as failure:  # a full disk, a directory that vanished
            return ToolResult.failed(f"{self.name} could not do it: {failure}")

    async def run(self, given: InputT) -> ToolResult:
        """Do it; `Refused` becomes the answer."""
        raise NotImplementedError


async def announce(host: Host, event: EventOf[DataT], data: DataT) -> None:
    """Tell the hooks what was done, and have their answers carried out where that is possible."""
    # A coordinator of the ecosystem has a registry, but no `notify`.
    tell: Any = getattr(host, "notify", host.hooks.emit)
    await tell(event, data)


async def mount_tools(
    host: Host, tools: Iterable[Tool], wanted: Sequence[str] | None, owner: str
) -> Cleanup:
    """Mount the tools, or the wanted ones of them; the result takes them away again."""
    by_name = {tool.name: tool for tool in tools}
    for name in wanted or ():
        if name not in by_name:
            raise ModuleLoadError(
                f"{owner}: Unknown tool {name!r}; have {', '.join(sorted(by_name))}"
            )
    names = list(by_name if wanted is None else wanted)
    for name in names:
        await host.mount("tools", by_name[name], name=name)

    async def unmount() -> None:
        while names:  # so that a second clean-up finds nothing to do
            await host.unmount("tools", names.pop())

    return unmount
