"""Tools for the resources and prompts of a server: to list them, and to get one."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, ClassVar

from pydantic import BaseModel, Field

from amplifier_core.interfaces import Host
from amplifier_core.models import ToolResult
from amplifier_hooks.agent.tools.base import InputTool
from amplifier_hooks.agent.tools.mcp.calls import Caller
from amplifier_hooks.agent.tools.mcp.content import read_parts
from amplifier_hooks.agent.tools.mcp.link import Link, LinkError, OnProgress, Wire
from amplifier_hooks.agent.tools.mcp.listings import Withheld, judge_list
from amplifier_hooks.guards.mcp.protocol import name_tool


class NothingInput(BaseModel):
    """What a tool is told that needs nothing."""


class ReadInput(BaseModel):
    """What read_resource is told."""

    uri: str = Field(min_length=1, description="The address of the resource, as listed")


class PromptInput(BaseModel):
    """What get_prompt is told."""

    name: str = Field(min_length=1, description="The name of the prompt, as listed")
    arguments: dict[str, Any] = Field(
        default_factory=dict, description="What is filled in, by the names that the list has"
    )


class _Offered(InputTool[Any]):
    """Of one server; named like its own tools, and out of their way."""

    about: ClassVar[str]

    def __init__(self, host: Host, server: str, kind: str, name: str, caller: Caller) -> None:
        self.name: str = name  # type: ignore[misc]
        self.kind = kind
        """What `tools` and `exclude` of a bundle call it."""
        self.description = f"{self.about} Of the MCP server {server!r}."
        self._host = host
        self._server = server
        self._caller = caller

    async def ask(
        self, about: str, request: Callable[[Link], Any], read: Callable[[Wire], ToolResult]
    ) -> ToolResult:
        async def send(link: Link, on_progress: OnProgress) -> Wire:
            found: Wire = await request(link)
            return found

        return await self._caller.ask(self.name, about, send, read)


class _Lister(_Offered):
    """Shows lists of the server, as hooks leave them."""

    input_model: ClassVar[type[BaseModel]] = NothingInput
    methods: ClassVar[tuple[str, ...]]

    async def run(self, given: NothingInput) -> ToolResult:
        """All of them, in one list."""

        async def collect(link: Link) -> Wire:
            return {"items": [one async for one in self._iterate(link)]}

        try:
            return await self.ask("", collect, lambda found: ToolResult(output=found["items"]))
        except Withheld as reason:
            return ToolResult.failed(f"The list is withheld: {reason}")

    async def _iterate(self, link: Link) -> Any:
        for method in self.methods:
            found = await link.list(method)
            for one in await judge_list(self._host, self._server, method, found):
                yield one


class ResourceLister(_Lister):
    """Lists resources, and templates of their addresses."""

    about = "List the resources that can be read, and the templates of their addresses."
    methods = ("resources/list", "resources/templates/list")


class PromptLister(_Lister):
    """Lists prompts."""

    about = "List the prepared prompts with their arguments."
    methods = ("prompts/list",)


class ResourceReader(_Offered):
    """Reads one resource."""

    about = "Read one resource by its address."
    input_model: ClassVar[type[BaseModel]] = ReadInput

    async def run(self, given: ReadInput) -> ToolResult:
        """Its parts; a single text as it is."""
        return await self.ask(given.uri, lambda link: link.read(given.uri), _read_resource)


class PromptGetter(_Offered):
    """Gets one prompt."""

    about = "Get one prepared prompt, filled in."
    input_model: ClassVar[type[BaseModel]] = PromptInput

    async def run(self, given: PromptInput) -> ToolResult:
        """Its messages."""
        words = {name: _write(value) for name, value in given.arguments.items()}
        return await self.ask(
            given.name,
            lambda link: link.get_prompt(given.name, words),
            lambda found: read_parts(found.get("messages")),
        )


def _write(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _read_resource(found: Wire) -> ToolResult:
    parts = found.get("contents")
    if isinstance(parts, list) and len(parts) == 1 and isinstance(parts[0].get("text"), str):
        return ToolResult(output=parts[0]["text"])
    return read_parts(parts)


_METHODS = {"resources": ResourceLister.methods, "prompts": PromptLister.methods}
_KINDS: dict[str, tuple[tuple[str, type[_Offered]], ...]] = {
    "resources": (("list_resources", ResourceLister), ("read_resource", ResourceReader)),
    "prompts": (("list_prompts", PromptLister), ("get_prompt", PromptGetter)),
}


OFFERED = [name for tools in _KINDS.values() for name, _ in tools]
"""What these tools are called behind the name of a server."""


async def find_offered(link: Link) -> list[str]:
    """What a server has beside tools; many say that they have something and list nothing."""
    return [kind for kind, methods in _METHODS.items() if await _has_any(link, kind, methods)]


async def _has_any(link: Link, kind: str, methods: Sequence[str]) -> bool:
    for method in methods if link.offers(kind) else ():
        try:
            if await link.list(method):
                return True
        except LinkError as error:
            if error.lost:
                raise
    return False


def make_offered_tools(
    host: Host, server: str, kinds: Iterable[str], caller: Caller, taken: Collection[str]
) -> Iterator[_Offered]:
    """The tools for what a server offers beside its own, whose names are `taken`."""
    for name, make in (one for kind in kinds for one in _KINDS[kind]):
        ours = [name_tool(server, one) for one in (name, f"mcp_{name}")]
        if free := next((one for one in ours if one not in taken), None):
            yield make(host, server, name, free, caller)
